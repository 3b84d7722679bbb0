from vllm.models.llama import Llama


def test_forward():
    assert Llama().forward([1, 3, 2]) == 3
