"""The scenario `warehouse`: robots bring requested shelves to goals, as in `rware`."""
