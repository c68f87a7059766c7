// A Sequence of tokenizer.json: several stages of one kind, one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/text/fields.h"

namespace heed::text {

template <class Stage>
class StageList : public Stage {
 public:
  // The stages in the list `key`, each made by `make`.
  StageList(Fields& fields, const std::string& key,
            std::unique_ptr<Stage> (*make)(const Json& json, const std::string& context)) {
    for (const Json& part : fields.required<std::vector<Json>>(key)) parts_.push_back(make(part, fields.context()));
  }

 protected:
  std::vector<std::unique_ptr<Stage>> parts_;
};

// Of stages that change a text in place.
template <class Stage, class Text>
class Sequence : public StageList<Stage> {
 public:
  using StageList<Stage>::StageList;
  void apply(Text& text) const override {
    for (const auto& part : this->parts_) part->apply(text);
  }
};

}  // namespace heed::text
