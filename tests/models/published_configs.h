// What published encoders have in config.json besides their sizes: fields and values as they are in files of the hub,
// or as HuggingFace's save_pretrained wrote them again for somebody who keeps the model or a fine-tuned copy.
//
// 57 models. Each was read from a config.json of that name, or from one printed in documentation, in a public
// repository on GitHub. Nobody publishes a list of what is downloaded most: these are names from the first pages of the
// hub for embeddings, reranking, classification, tagging, question answering and masked words, as far as a copy of
// their file was found.
#pragma once

#include <string>
#include <vector>

namespace heed::test {

struct PublishedConfig {
  std::string name, model_type, architecture;
  std::string fields;  // "name": value, ...
};

inline std::string labels(const std::vector<std::string>& names) {
  std::string by_id, by_name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string comma = i > 0 ? ", " : "", name = "\"" + names[i] + "\"", id = std::to_string(i);
    by_id += comma + "\"" + id + "\": " + name;
    by_name += comma + name + ": " + id;
  }
  return "\"id2label\": {" + by_id + "}, \"label2id\": {" + by_name + "}, ";
}

inline std::string numbered(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("LABEL_" + std::to_string(i));
  return labels(names);
}

inline std::vector<PublishedConfig> published_configs() {
  // What transformers adds by itself, by its version.
  const std::string old_four = R"("gradient_checkpointing": false, "position_embedding_type": "absolute",
      "transformers_version": "4.6.0.dev0", "use_cache": true, )";
  const std::string four = R"("classifier_dropout": null, "position_embedding_type": "absolute",
      "torch_dtype": "float32", "transformers_version": "4.51.3", "use_cache": true, )";
  const std::string late_four = R"("classifier_dropout": null, "dtype": "float32",
      "position_embedding_type": "absolute", "transformers_version": "4.57.6", "use_cache": true, )";
  const std::string five = R"("add_cross_attention": false, "classifier_dropout": null, "dtype": "float32",
      "is_decoder": false, "position_embedding_type": "absolute", "tie_word_embeddings": true,
      "transformers_version": "5.6.2", "use_cache": true, )";
  // What whole families have.
  const std::string pooler = R"("directionality": "bidi", "pooler_fc_size": 768, "pooler_num_attention_heads": 12,
      "pooler_num_fc_layers": 3, "pooler_size_per_head": 128, "pooler_type": "first_token_transform", )";
  const std::string ends = R"("bos_token_id": 0, "eos_token_id": 2, )";
  const std::string checkpointing = R"("gradient_checkpointing": false, )";
  const std::string albert =
      R"("bos_token_id": 2, "eos_token_id": 3, "classifier_dropout_prob": 0.1, "down_scale_factor": 1,
               "embedding_size": 128, "gap_size": 0, "inner_group_num": 1, "net_structure_type": 0,
               "num_hidden_groups": 1, "num_memory_blocks": 0, )";
  const std::string distilbert =
      R"("activation": "gelu", "attention_dropout": 0.1, "dim": 768, "dropout": 0.1, "hidden_dim": 3072,
               "n_heads": 12, "n_layers": 6, "pad_token_id": 0, "qa_dropout": 0.1, "seq_classif_dropout": 0.2,
               "sinusoidal_pos_embds": false, "tie_weights_": true, )";
  return {
      {"bert-base-uncased", "bert", "BertModel", late_four + checkpointing},
      {"bert-base-cased", "bert", "BertForMaskedLM", old_four},
      {"bert-base-chinese", "bert", "BertForMaskedLM", pooler},
      {"bert-base-multilingual-cased", "bert", "BertForTokenClassification",
       four + pooler + numbered(13) + R"("_name_or_path": "google-bert/bert-base-multilingual-cased", )"},
      {"bert-large-uncased-whole-word-masking-finetuned-squad", "bert", "BertForQuestionAnswering", ""},
      {"bert-tiny", "bert", "BertForSequenceClassification",
       four + R"("hidden_size": 128, "num_attention_heads": 2, )"},
      {"all-MiniLM-L6-v2", "bert", "BertModel",
       four + checkpointing + R"("_name_or_path": "sentence-transformers/all-MiniLM-L6-v2", )"},
      {"all-MiniLM-L12-v2", "bert", "BertModel", four + checkpointing},
      {"multi-qa-MiniLM-L6-cos-v1", "bert", "BertModel", four + checkpointing},
      {"paraphrase-MiniLM-L6-v2", "bert", "BertForSequenceClassification",
       old_four + labels({"FLUFF", "RELEVANT"}) + R"("num_labels": 2, "classifier_dropout": null, )"},
      {"paraphrase-multilingual-MiniLM-L12-v2", "bert", "BertModel",
       five + checkpointing + R"("bos_token_id": null, "eos_token_id": null, "vocab_size": 250037, )"},
      {"ms-marco-MiniLM-L-6-v2", "bert", "BertForSequenceClassification",
       four + checkpointing + numbered(1) +
           R"("sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity", )"},
      {"ms-marco-MiniLM-L6-v2", "bert", "BertForSequenceClassification",
       five + checkpointing + numbered(1) +
           R"("bos_token_id": null, "eos_token_id": null,
               "sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity",
               "version": "5.2.3"}, )"},
      {"ms-marco-TinyBERT-L-2-v2", "bert", "BertForSequenceClassification",
       five + checkpointing + numbered(1) +
           R"("bos_token_id": null, "eos_token_id": null, "hidden_size": 128, "num_attention_heads": 2,
               "sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity",
               "version": "5.2.3"}, )"},
      {"LaBSE", "bert", "BertModel", old_four + pooler + R"("_name_or_path": "old_models/LaBSE/0_Transformer", )"},
      {"bge-small-en-v1.5", "bert", "BertModel", late_four + numbered(1)},
      {"bge-large-en-v1.5", "bert", "BertModel",
       five + checkpointing + numbered(1) + R"("bos_token_id": null, "eos_token_id": null, )"},
      {"bge-small-zh-v1.5", "bert", "BertModel",
       old_four + numbered(1) + R"("classifier_dropout": null, "_name_or_path": "BAAI/bge-small-zh-v1.5", )"},
      {"bge-base-zh-v1.5", "bert", "BertModel", four + pooler + ends + numbered(1) + R"("output_past": true, )"},
      {"bge-large-zh-v1.5", "bert", "BertModel", late_four + pooler + ends + numbered(1) + R"("output_past": true, )"},
      {"e5-small-v2", "bert", "BertModel", four},
      {"gte-small", "bert", "BertModel", late_four + R"("export_model_type": "transformer", )"},
      {"gte-base", "bert", "BertModel", four + checkpointing},
      {"text2vec-base-chinese", "bert", "BertModel", four + pooler + checkpointing},
      {"text2vec-large-chinese", "bert", "BertModel",
       four +
           R"("directionality": "bidi", "pooler_fc_size": 1024, "pooler_num_attention_heads": 16,
               "pooler_num_fc_layers": 3, "pooler_size_per_head": 128, "pooler_type": "first_token_transform", )"},
      {"chinese-roberta-wwm-ext", "bert", "BertForMaskedLM",
       pooler + ends + R"("output_past": true, "pad_token_id": 1, )"},
      {"rubert-tiny2", "bert", "BertForSequenceClassification",
       five + checkpointing + numbered(28) +
           R"("bos_token_id": null, "eos_token_id": null, "emb_size": 312, "hidden_size": 312,
               "problem_type": "multi_label_classification", )"},
      {"indobert-base-p1", "bert", "BertForSequenceClassification",
       late_four + pooler + numbered(3) + R"("_num_labels": 5, "output_past": true, )"},
      {"bert-base-NER", "bert", "BertForTokenClassification",
       four + labels({"O", "B-MISC", "I-MISC", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"}) +
           R"("_num_labels": 9, "output_past": true, )"},
      {"finbert", "bert", "BertForSequenceClassification",
       four + checkpointing + labels({"positive", "negative", "neutral"})},
      {"finbert-pretrain", "bert", "BertForTokenClassification",
       four + checkpointing + labels({"LOC_B", "LOC_I", "O", "ORG_B", "ORG_I", "PER_B", "PER_I"}) +
           R"("problem_type": "multi_label_classification", )"},
      {"legal-bert-base-uncased", "bert", "BertForPreTraining",
       numbered(2) +
           R"("bos_token_id": 0, "do_sample": false, "eos_token_ids": 0, "finetuning_task": null,
               "is_decoder": false, "length_penalty": 1.0, "max_length": 20, "num_beams": 1, "num_labels": 2,
               "num_return_sequences": 1, )"},
      {"biobert-base-cased-v1.1", "bert", "BertForQuestionAnswering", four},
      {"scibert_scivocab_uncased", "bert", "BertForSequenceClassification",
       four + labels({"claim", "premise", "non-argument"}) + R"("problem_type": "single_label_classification", )"},
      {"roberta-base", "roberta", "RobertaModel", four + ends},
      {"roberta-large-mnli", "roberta", "RobertaForSequenceClassification",
       ends + labels({"CONTRADICTION", "NEUTRAL", "ENTAILMENT"}) + R"("_num_labels": 3, )"},
      {"roberta-base-squad2", "roberta", "RobertaForQuestionAnswering",
       ends + checkpointing + R"("language": "english", "name": "Roberta", )"},
      {"all-distilroberta-v1", "roberta", "RobertaModel", four + ends + checkpointing},
      {"twitter-roberta-base-sentiment", "roberta", "RobertaForSequenceClassification",
       four + ends + checkpointing + numbered(3)},
      {"bertweet-base", "roberta", "RobertaForMaskedLM",
       ends + checkpointing + R"("max_position_embeddings": 130, "tokenizer_class": "BertweetTokenizer", )"},
      {"phobert-base", "roberta", "RobertaModel",
       four + ends + checkpointing + R"("max_position_embeddings": 258, "tokenizer_class": "PhobertTokenizer", )"},
      {"vietnamese-sbert", "roberta", "RobertaModel",
       five + ends + checkpointing + R"("max_position_embeddings": 258, "tokenizer_class": "PhobertTokenizer", )"},
      {"codebert-base", "roberta", "RobertaModel", four + ends + R"("output_past": true, )"},
      {"unixcoder-base", "roberta", "RobertaModel",
       four + ends + checkpointing +
           R"("max_position_embeddings": 1026, "output_past": true, "type_vocab_size": 10, )"},
      {"ChemBERTa-77M-MLM", "roberta", "RobertaModel",
       late_four + ends + checkpointing + R"("hidden_size": 384, "is_gpu": true, "max_position_embeddings": 515, )"},
      {"bge-m3", "xlm-roberta", "XLMRobertaModel",
       five + ends + R"("max_position_embeddings": 8194, "output_past": true, )"},
      {"bge-reranker-base", "xlm-roberta", "XLMRobertaForSequenceClassification",
       four + ends + numbered(1) + R"("output_past": true, )"},
      {"bge-reranker-v2-m3", "xlm-roberta", "XLMRobertaForSequenceClassification",
       four + ends + numbered(1) + R"("max_position_embeddings": 8194, "output_past": true, )"},
      {"multilingual-e5-base", "xlm-roberta", "XLMRobertaModel", five + ends + R"("output_past": true, )"},
      {"twitter-xlm-roberta-base-sentiment", "xlm-roberta", "XLMRobertaForSequenceClassification",
       four + ends + checkpointing + labels({"Negative", "Neutral", "Positive"}) + R"("output_past": true, )"},
      {"all-mpnet-base-v2", "mpnet", "MPNetModel",
       ends +
           R"("dtype": "float32", "relative_attention_num_buckets": 32, "tie_word_embeddings": true,
               "transformers_version": "5.5.4", )"},
      {"koelectra-base-v3-discriminator", "electra", "ElectraForPreTraining", R"("embedding_size": 768, )"},
      {"albert-base-v2", "albert", "AlbertForSequenceClassification",
       albert + numbered(9) +
           R"("position_embedding_type": "absolute", "problem_type": "single_label_classification",
               "torch_dtype": "float32", "transformers_version": "4.39.2", )"},
      {"albert-large-v1", "albert", "AlbertForQuestionAnswering",
       albert +
           R"("position_embedding_type": "absolute", "torch_dtype": "float32",
               "_name_or_path": "albert-large-v1", )"},
      {"distilbert-base-uncased", "distilbert", "DistilBertForMaskedLM", distilbert + numbered(38)},
      {"distilbert-base-uncased-finetuned-sst-2-english", "distilbert", "DistilBertModel",
       distilbert + labels({"NEGATIVE", "POSITIVE"}) +
           R"("finetuning_task": "sst-2", "output_past": true, "torch_dtype": "float32", )"},
      {"msmarco-distilbert-base-tas-b", "distilbert", "DistilBertModel",
       distilbert + R"("torch_dtype": "float32", "transformers_version": "4.49.0", )"},
  };
}

}  // namespace heed::test
