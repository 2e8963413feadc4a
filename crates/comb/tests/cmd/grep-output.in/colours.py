RED = 1


def mix(a, b):
    """Mixes two colors."""
    color = (a + b) / 2
    return color  # color or colour


def show(color):
    print(f"the color is {color}, and here is a very long line about it")
