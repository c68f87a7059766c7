// make_model FOLDER HEAD [positions=N] [layers=N] [heads=N] [width=N] LABEL...: writes a model folder with random
// weights, for tests that are scripts.
#include <cstdio>
#include <cstdlib>
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
    std::fprintf(stderr, "usage: make_model FOLDER none|classify|tag|fill-mask|answer [positions=N] ... LABEL...\n");
    return 2;
  }
  heed::test::RandomModelSize size;
  const std::map<std::string, std::int64_t*> sizes = {
      {"positions", &size.positions}, {"layers", &size.layers}, {"heads", &size.heads}, {"width", &size.width}};
  std::vector<std::string> labels;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos) {
      labels.push_back(argument);
    } else {
      *sizes.at(argument.substr(0, equals)) = std::atoll(argument.c_str() + equals + 1);
    }
  }
  heed::test::write_random_model(argv[1], heads.at(argv[2]),
                                 labels.empty() ? std::vector<std::string>{"a", "b"} : labels, /*seed=*/1, size);
}
