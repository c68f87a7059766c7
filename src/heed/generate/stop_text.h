// The text of a sequence as its tokens come. Nothing of a stop string is ever given out: what may be the beginning of
// one waits until that is clear, across the borders of tokens too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/generate/rule.h"
#include "heed/text/tokenizer.h"

namespace heed {

class StopText {
 public:
  // The tokenizer must outlive it. Stop strings are not empty.
  StopText(const text::Tokenizer& tokenizer, std::vector<std::string> stops)
      : decoder_(tokenizer), stops_(std::make_shared<const std::vector<std::string>>(std::move(stops))) {}

  // The text that is certain by now, "" if there is none. After a stop string nothing comes.
  std::string push(TokenId id) { return release(decoder_.push(id), false); }
  // What is left of a sequence that ended otherwise.
  std::string finish() { return release(decoder_.finish(), true); }
  bool stopped() const { return stopped_; }

 private:
  std::string release(const std::string& fresh, bool all);

  text::StreamDecoder decoder_;
  std::shared_ptr<const std::vector<std::string>> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heed
