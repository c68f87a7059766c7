// The verbs of the `heed` command: one file each. A verb adds itself, with its options, to the command it belongs to;
// when it is the one that was asked for, it runs and leaves its exit code in `result`.
#pragma once

namespace CLI {
class App;
}

namespace heed::cli {

void add_demo(CLI::App& app, int& result);  // trains a tiny encoder on built-in data and shows what it attends to
void add_cpu(CLI::App& app, int& result);   // what this machine offers and what the kernels use of it
void add_lab(CLI::App& app, int& result);   // experiments that explain

void add_tokenize(CLI::App& app, int& result);    // text to ids
void add_detokenize(CLI::App& app, int& result);  // ids to text
void add_tokenizer(CLI::App& app, int& result);   // trains tokenizers

void add_train(CLI::App& app, int& result);  // trains and fine-tunes models

void add_tasks(CLI::App& app, int& result);   // one for each task: classify, tag, embed ...
void add_chat(CLI::App& app, int& result);    // a conversation in the terminal
void add_pull(CLI::App& app, int& result);    // a model from the hub
void add_info(CLI::App& app, int& result);    // what is in a model folder
void add_verify(CLI::App& app, int& result);  // a model against what another program computed

void add_look(CLI::App& app, int& result);         // what heads attend to
void add_why_similar(CLI::App& app, int& result);  // a cosine taken apart

void add_data(CLI::App& app, int& result);     // makes and checks training data
void add_eval(CLI::App& app, int& result);     // how well a model does on a file of right answers
void add_metrics(CLI::App& app, int& result);  // how good predictions in files are

void add_help(CLI::App& app, int& result);        // what heed or a verb does
void add_completion(CLI::App& app, int& result);  // scripts for shells
void add_man(CLI::App& app, int& result);         // the manual page

void add_lab_attention(CLI::App& lab, int& result);   // the variants of attention side by side
void add_lab_positions(CLI::App& lab, int& result);   // position encodings and what they should do
void add_lab_long_range(CLI::App& lab, int& result);  // recall over distance: recurrence against attention

}  // namespace heed::cli
