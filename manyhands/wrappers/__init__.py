"""What turns one environment into another, or into another library's API."""
