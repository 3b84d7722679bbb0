import functools


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@logged
def greedy(values):
    return max(values, default=None)


def top_k(values, k, key=lambda value: -value):
    return sorted(values, key=key)[:k]
