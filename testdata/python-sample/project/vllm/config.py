from packaging.version import Version


class Config:
    """The body of a class is entered when its module is imported."""

    least = Version("1.0")

    def __init__(self, layers=2, version="1.2"):
        self.layers = layers
        self.version = Version(version)

    @property
    def is_supported(self):
        return self.version >= self.least


def tiny():
    return Config(layers=1)
