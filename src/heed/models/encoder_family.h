// What one model_type adds to the common encoder: its configuration's fields, and the names of its published tensors.
// Each family has a file; registry.cpp lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/models/config_reader.h"
#include "heed/models/encoder_config.h"

namespace heed {

// One of our parameters, or a module with all its parameters, and what published files call it. In `theirs` # is the
// number of the layer, or with @, the group's number, that of the block in its group; {a,b,c} are tensors that we hold
// one below the other.
struct PublishedName {
  std::string ours, theirs;
  bool reversed = false;  // rows are in the opposite order
};

// dropout, dense, activation, norm, dropout, output; which of them, and over what.
struct HeadDescription {
  Head head = Head::none;
  enum class Input { tokens, first_token, pooler } input = Input::tokens;
  bool dense = false;
  Activation activation = Activation::none;  // behind dense
  bool hidden_activation = false;            // the encoder's own activation instead
  bool norm = false;
  bool to_embedding_width = false;  // dense leads to the width of the word table
  bool dropout_before_dense = false;
  std::vector<PublishedName> names{};  // ours: dense, norm, output
  // Names under which files may hold a tied tensor once more, and which it is: "" for the table of words.
  std::vector<PublishedName> copies{};
};

// What config.json calls the sizes that the tensors of a file must agree with.
struct SizeFields {
  std::string vocabulary = "vocab_size", embedding_width = "hidden_size", width = "hidden_size",
              inner = "intermediate_size", layers = "num_hidden_layers", positions = "max_position_embeddings",
              types = "type_vocab_size", labels = "id2label";
};

struct EncoderFamily {
  std::string model_type, class_name;  // "bert", "Bert": BertModel, BertForMaskedLM ...
  std::string prefix;                  // of the encoder's tensors in files that hold a head too: "bert."
  EncoderConfig (*read_config)(ConfigReader& reader) = nullptr;
  SizeFields fields{};
  std::vector<PublishedName> names{};  // of the encoder, without prefix
  std::vector<HeadDescription> heads{};
  std::vector<std::string> unused{};  // beginnings of names that files may have and no head here uses
};

const EncoderFamily& bert_family();
const EncoderFamily& roberta_family();
const EncoderFamily& xlm_roberta_family();
const EncoderFamily& electra_family();
const EncoderFamily& distilbert_family();
const EncoderFamily& albert_family();
const EncoderFamily& mpnet_family();

std::span<const EncoderFamily* const> encoder_families();
// Null if there is none.
const EncoderFamily* find_encoder_family(std::string_view model_type);

// "BertForMaskedLM"
std::string architecture_name(const EncoderFamily& family, Head head);
// Throws invalid_argument when the family has no such head.
const HeadDescription& head_description(const EncoderFamily& family, Head head);

// Heads that are one linear layer over every token.
HeadDescription token_head(std::string theirs);
HeadDescription answer_head(std::string theirs);
// What RoBERTa introduced: a classifier over the first token with a layer of its own, and a masked-LM head "lm_head".
HeadDescription dense_classifier(Activation activation);
HeadDescription lm_head();

}  // namespace heed
