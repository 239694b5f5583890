"""KleidiAI: not in this build."""


def is_available():
    return False
