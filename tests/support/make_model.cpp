// make_model FOLDER HEAD [FIELD=N] ... LABEL...: writes a model folder with random weights, for tests that are scripts.
// A FIELD is one of config.json: max_position_embeddings=512
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "support/random_model.h"

int main(int argc, char** argv) {
  const std::map<std::string, heed::HeadKind> heads = {{"none", heed::HeadKind::none},
                                                       {"classify", heed::HeadKind::sequence_classification},
                                                       {"tag", heed::HeadKind::token_classification},
                                                       {"fill-mask", heed::HeadKind::masked_lm},
                                                       {"answer", heed::HeadKind::question_answering}};
  if (argc == 3 && argv[2] == std::string("generate")) {
    heed::test::write_random_decoder(argv[1]);
    return 0;
  }
  if (argc == 3 && argv[2] == std::string("translate")) {
    heed::test::write_random_translator(argv[1]);
    return 0;
  }
  if (argc < 3 || !heads.contains(argv[2])) {
    std::fprintf(stderr,
                 "usage: make_model FOLDER none|classify|tag|fill-mask|answer [FIELD=N] ... LABEL...\n"
                 "       make_model FOLDER generate|translate\n");
    return 2;
  }
  heed::Json fields = heed::Json::object();  // of config.json
  std::vector<std::string> labels;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos) {
      labels.push_back(argument);
    } else {
      fields[argument.substr(0, equals)] = std::atoll(argument.c_str() + equals + 1);
    }
  }
  heed::test::write_random_model(argv[1], heads.at(argv[2]),
                                 labels.empty() ? std::vector<std::string>{"a", "b"} : labels, /*seed=*/1, fields);
}
