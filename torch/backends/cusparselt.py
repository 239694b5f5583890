"""cuSPARSELt: not in this build."""


def is_available():
    return False


def version():
    return None
