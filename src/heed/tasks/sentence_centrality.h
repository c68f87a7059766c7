// Which sentences of a document stand for it, by their vectors (LexRank: Erkan and Radev, 2004; MMR: Carbonell and
// Goldstein, 1998). Everything is summed in f64 in one order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed {

// The defaults gave the best ROUGE on parts of the dev files of samsum (3 sentences) and aeslc (1 sentence).
struct CentralityOptions {
  double damping = 0.35;    // share of the walk that goes along cosines; the rest is the prior
  double threshold = 0.2;   // cosines below it are no link
  double lead = 4;          // how much likelier the first sentence is by the prior than one far from it, less 1
  double lead_reach = 1;    // in sentences: after so many that is down to 1/e
  double redundancy = 0.3;  // what likeness to a chosen sentence costs, of 1 for the greatest centrality
};

// How central each sentence is: the share of a walk's time, times the number of sentences, so that 1 is the average.
// Vectors have length 1. A walk is over at most 1,000 neighbouring sentences: the time is linear for longer documents.
std::vector<double> sentence_centrality(std::span<const std::vector<float>> vectors,
                                        const CentralityOptions& options = {});

// `count` sentences, or all, that are central and not alike, in the document's order.
std::vector<std::size_t> choose_sentences(std::span<const std::vector<float>> vectors, std::span<const double> scores,
                                          std::size_t count, const CentralityOptions& options = {});

}  // namespace heed
