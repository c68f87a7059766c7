// The verbs of the `heed` command: one file each. A verb adds itself, with its options, to the command it belongs to;
// when it is the one that was asked for, it runs and leaves its exit code in `result`.
#pragma once

namespace CLI {
class App;
}

namespace heed {
struct EmbedOptions;
}

namespace heed::cli {

void add_demo(CLI::App& app, int& result);  // trains a tiny encoder on built-in data and shows what it attends to
void add_cpu(CLI::App& app, int& result);   // what this machine offers and what the kernels use of it
void add_lab(CLI::App& app, int& result);   // experiments that explain

void add_tokenize(CLI::App& app, int& result);    // text to ids
void add_detokenize(CLI::App& app, int& result);  // ids to text
void add_tokenizer(CLI::App& app, int& result);   // trains tokenizers

void add_train(CLI::App& app, int& result);  // trains and fine-tunes models

// Models on texts; texts.h is what they share.
void add_embed(CLI::App& app, int& result);       // vectors
void add_similarity(CLI::App& app, int& result);  // how alike texts are
void add_classify(CLI::App& app, int& result);    // labels of texts
void add_rerank(CLI::App& app, int& result);      // texts by relevance to a query
void add_tag(CLI::App& app, int& result);         // labels of words
void add_fill_mask(CLI::App& app, int& result);   // words for [MASK]
void add_answer(CLI::App& app, int& result);      // words that answer a question
void add_pull(CLI::App& app, int& result);        // a model from the hub
void add_info(CLI::App& app, int& result);        // what is in a model folder
void add_verify(CLI::App& app, int& result);      // a model against what another program computed

void add_look(CLI::App& app, int& result);         // what heads attend to
void add_why_similar(CLI::App& app, int& result);  // a cosine taken apart

void add_data(CLI::App& app, int& result);  // makes and checks training data
void add_eval(CLI::App& app, int& result);  // how well a model does on a file of right answers

// --pooling and --prompt, which embed and similarity have.
void add_embedding_options(CLI::App& verb, EmbedOptions& options);

void add_lab_attention(CLI::App& lab, int& result);   // the variants of attention side by side
void add_lab_positions(CLI::App& lab, int& result);   // position encodings and what they should do
void add_lab_long_range(CLI::App& lab, int& result);  // recall over distance: recurrence against attention

}  // namespace heed::cli
