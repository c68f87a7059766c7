// make_model FOLDER HEAD LABEL...: writes a model folder with random weights, for tests that are scripts.
#include <cstdio>
#include <map>
#include <string>

#include "support/random_model.h"

int main(int argc, char** argv) {
  const std::map<std::string, heed::Head> heads = {{"none", heed::Head::none},
                                                   {"classify", heed::Head::sequence_classification},
                                                   {"tag", heed::Head::token_classification},
                                                   {"fill-mask", heed::Head::masked_lm},
                                                   {"answer", heed::Head::question_answering}};
  if (argc < 3 || !heads.contains(argv[2])) {
    std::fprintf(stderr, "usage: make_model FOLDER none|classify|tag|fill-mask|answer LABEL...\n");
    return 2;
  }
  const std::vector<std::string> labels(argv + 3, argv + argc);
  heed::test::write_random_model(argv[1], heads.at(argv[2]),
                                 labels.empty() ? std::vector<std::string>{"a", "b"} : labels);
}
