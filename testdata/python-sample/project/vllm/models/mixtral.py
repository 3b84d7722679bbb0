from vllm.sampling import top_k


class Mixtral:
    def forward(self, values):
        return top_k(values, 2)
