// The post-processor that spells out where texts and special tokens go, as in "[CLS] $A [SEP] $B:1 [SEP]:1".
#pragma once

#include <memory>

#include "heed/text/fields.h"
#include "heed/text/post_processor.h"

namespace heed::text {

std::unique_ptr<PostProcessor> make_template_processing(Fields& fields);

}  // namespace heed::text
