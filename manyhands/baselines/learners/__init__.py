"""Learners: IPPO, MAPPO, VDN, QMIX, populations, PSRO, and the runs that train them."""
