from vllm.models.mixtral import Mixtral


def test_forward():
    assert Mixtral().forward([1, 3, 2]) == [3, 2]
