# TODO: run, and say more than that
