#!/usr/bin/env python3
"""Writes what HuggingFace transformers computes for small decoders to tests/models/huggingface/<name>.json, which
tests/models/huggingface_values_test.cpp reads. Needs transformers 5 and PyTorch; the project does not.

usage: tools/huggingface_values.py <folder> [name ...]

A file has config (config.json as transformers saves it), input_ids, logits of the tokens at `positions` of every sequence,
hidden states of the same tokens after every layer, the loss of predicting each next token, of every parameter's gradient
the largest absolute value and a few elements (see sampled), and generations. Weights are not in the file: element i of a
tensor is a function of its name and of i (see value_of), which the test computes again.
"""
import json
import pathlib
import sys
import tempfile

import numpy
import torch
import transformers as hf

VOCABULARY, TOKENS, POSITIONS = 48, 14, [0, 6, 13]
SIZES = dict(vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
             max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
LLAMA = dict(SIZES, num_key_value_heads=2, tie_word_embeddings=True)


def rope(kind, **fields):
    return dict(rope_type=kind, rope_theta=10000.0, **fields)


def llama(**fields):
    return hf.LlamaConfig(**{**LLAMA, **fields})


def gemma(kind, **fields):
    return kind(**{**LLAMA, "head_dim": 6, "hidden_activation": "gelu_pytorch_tanh", **fields})


def encoder(kind, **fields):
    return kind(**{**SIZES, "is_decoder": True, "type_vocab_size": 2, **fields})


FACTORS = dict(short_factor=[1.0, 1.5], long_factor=[2.0, 5.0])
MODELS = {
    "gemma": gemma(hf.GemmaConfig),
    "gemma2": gemma(hf.Gemma2Config, num_hidden_layers=3, sliding_window=5, query_pre_attn_scalar=10,
                    attn_logit_softcapping=3.0, final_logit_softcapping=5.0),
    "gemma3": gemma(hf.Gemma3TextConfig, num_hidden_layers=3, sliding_window=5, query_pre_attn_scalar=9,
                    layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                    rope_parameters={"full_attention": rope("linear", factor=8.0),
                                     "sliding_attention": rope("default")}),
    "phi3": hf.Phi3Config(**LLAMA, sliding_window=6),
    "phi3_longrope": hf.Phi3Config(**LLAMA, original_max_position_embeddings=10, rope_parameters=rope("longrope", **FACTORS)),
    "opt": hf.OPTConfig(vocab_size=VOCABULARY, hidden_size=16, word_embed_proj_dim=16, ffn_dim=24, num_hidden_layers=2,
                        num_attention_heads=4, max_position_embeddings=64, pad_token_id=1, bos_token_id=2, eos_token_id=2),
    "opt_post_norm": hf.OPTConfig(vocab_size=VOCABULARY, hidden_size=16, word_embed_proj_dim=10, ffn_dim=24,
                                  num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64,
                                  do_layer_norm_before=False, pad_token_id=1, bos_token_id=2, eos_token_id=2),
    "bloom": hf.BloomConfig(vocab_size=VOCABULARY, hidden_size=16, n_layer=2, n_head=4, pad_token_id=3),
    "bloom_6_heads": hf.BloomConfig(vocab_size=VOCABULARY, hidden_size=24, n_layer=2, n_head=6, pad_token_id=3),
    "llama_dynamic": llama(max_position_embeddings=10, rope_parameters=rope("dynamic", factor=4.0)),
    "llama_linear": llama(rope_parameters=rope("linear", factor=3.0)),
    "llama_llama3": llama(rope_parameters=rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                               original_max_position_embeddings=16)),
    "llama_longrope": llama(original_max_position_embeddings=10, rope_parameters=rope("longrope", factor=6.0, **FACTORS)),
    "llama_yarn": llama(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=16)),
    "llama_yarn_scaled": llama(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=4.0,
                                                    beta_slow=0.5, mscale=0.7, mscale_all_dim=0.9)),
    "llama_biases": llama(attention_bias=True, mlp_bias=True),
    "qwen2_sliding": hf.Qwen2Config(**{**LLAMA, "num_hidden_layers": 3}, use_sliding_window=True, sliding_window=5,
                                    max_window_layers=1),
    "gpt_neox_sequential": hf.GPTNeoXConfig(**SIZES, use_parallel_residual=False,
                                            rope_parameters=rope("default", partial_rotary_factor=0.5)),
    "gpt2_inverse_layer": hf.GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=3, n_head=4, n_positions=64, n_inner=24,
                                        pad_token_id=0, bos_token_id=1, eos_token_id=2,
                                        scale_attn_by_inverse_layer_idx=True),
    "bert": encoder(hf.BertConfig),
    "roberta": encoder(hf.RobertaConfig),
    "electra": encoder(hf.ElectraConfig, embedding_size=10),
}
# Here generate() is not what the model itself computes. It numbers RoBERTa's tokens from 0, the model from pad_token_id + 1;
# where positions are turned by the length of the text (longrope), what is cached was turned by another.
UNNUMBERED, UNCACHED = {"roberta"}, {"phi3_longrope", "llama_longrope"}
LANGUAGE_HEADS = {"bert": hf.BertLMHeadModel, "roberta": hf.RobertaForCausalLM, "electra": hf.ElectraForCausalLM}
CASES = [dict(max_new_tokens=10), dict(num_beams=3, num_return_sequences=2, max_new_tokens=8, length_penalty=0.7)]


def value_of(name, shape):
    """Numbers in [-1, 1) by FNV-1a of the name and a mix of 32 bits, scaled: the factors of norms lie around 1, matrices
    keep the size of what they multiply."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    count = int(numpy.prod(shape))
    x = (seed + numpy.arange(count, dtype=numpy.uint64) * 0x9E3779B9) % 2**32
    for factor, shift in ((0x85EBCA6B, 16), (0xC2B2AE35, 13)):
        x = (x ^ (x >> numpy.uint64(shift))) * factor % 2**32
    x = ((x ^ (x >> numpy.uint64(16))) >> numpy.uint64(8)).astype(numpy.float64) / 2**23 - 1
    if len(shape) > 1:
        x *= 2 / numpy.sqrt(shape[-1])
    else:
        x = 0.3 * x + name.endswith("weight")
    return torch.from_numpy(x.reshape(shape)).float()


def make_model(config, noise=None):
    kind = LANGUAGE_HEADS.get(config.model_type)
    config._attn_implementation = "eager"
    model = (kind(config) if kind else hf.AutoModelForCausalLM.from_config(config)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(value_of(name, tuple(parameter.shape)))
            if noise:
                parameter.mul_(1 + 1e-5 * torch.randn(parameter.shape, generator=noise))
    model.tie_weights()
    return model


def generations(name, ids, noise=None):
    found = []
    for number, params in enumerate(CASES):
        params = dict(params, eos_token_id=5, pad_token_id=0, do_sample=False)
        prompt = ids[:, :4 + 3 * number]
        model = make_model(MODELS[name], noise)  # anew: dynamic rope remembers the longest text
        if name in UNNUMBERED:
            model.register_forward_pre_hook(lambda _, args, fields: (args, {**fields, "position_ids": None}), with_kwargs=True)
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), return_dict_in_generate=True,
                             output_scores=True, use_cache=name not in UNCACHED, **params)
        case = dict(params=params, input_ids=prompt.tolist(), sequences=out.sequences.tolist())
        if params.get("num_beams", 1) > 1:
            case["sequences_scores"] = [float(f"{x:.6g}") for x in out.sequences_scores.tolist()]
        found.append(case)
    return found


def ids_of(cases):
    return [case["sequences"] for case in cases]


def rounded(tensor):
    return [[float(f"{x:.7g}") for x in row] for row in tensor.reshape(-1, tensor.shape[-1]).tolist()]


def sampled(gradient):
    values = gradient.reshape(-1).tolist()
    return [float(f"{x:.7g}") for x in [gradient.abs().max().item()] + [values[k * 7919 % len(values)] for k in range(1, 5)]]


def loss_and_gradients(name, ids):
    model = make_model(MODELS[name])  # in evaluation mode: no dropout
    loss = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    gradients = {key: sampled(parameter.grad) for key, parameter in model.named_parameters() if parameter.grad is not None}
    return float(f"{loss.item():.8g}"), gradients


def write(name, folder):
    model = make_model(MODELS[name])
    generator = torch.Generator().manual_seed(7)
    while True:
        ids = torch.randint(6, VOCABULARY, (2, TOKENS), generator=generator)
        cases = generations(name, ids)
        # A choice that hangs on the last bits would test nothing but those.
        if ids_of(generations(name, ids, generator)) == ids_of(cases):
            break
    with torch.no_grad():
        out = model(input_ids=ids, output_hidden_states=True, use_cache=False)
    loss, gradients = loss_and_gradients(name, ids)
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        saved_config = json.loads((pathlib.Path(saved) / "config.json").read_text())
    values = dict(source=f"transformers {hf.__version__}, torch {torch.__version__}, float32", config=saved_config,
                  input_ids=ids.tolist(), positions=POSITIONS, logits=rounded(out.logits[:, POSITIONS]),
                  hidden=[rounded(state[:, POSITIONS]) for state in out.hidden_states], loss=loss, gradients=gradients,
                  generate=cases)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    (folder / f"{name}.json").write_text("{" + ",\n ".join(lines) + "}\n")


if __name__ == "__main__":
    torch.manual_seed(0)
    for each in sys.argv[2:] or MODELS:
        print(each, flush=True)
        write(each, pathlib.Path(sys.argv[1]))
