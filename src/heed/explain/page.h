// Pages that show explanations: one HTML file each, which asks the network for nothing.
#pragma once

#include <filesystem>
#include <string>

#include "heed/explain/look.h"
#include "heed/explain/similarity.h"

namespace heed {

// `model` is a name for the reader. The file appears when it is complete. A look needs its maps.
void write_page(const Look& look, const std::string& model, const std::filesystem::path& path);
void write_page(const SimilarityExplanation& similarity, const std::string& model, const std::filesystem::path& path);

}  // namespace heed
