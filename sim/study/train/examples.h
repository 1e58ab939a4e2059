#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/run/images.h"
#include "sim/run/record/content.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

/// What a program is trained and evaluated on.
namespace systole::train {

/// Examples for an input whose first axis is the batch: words of its format.
struct Examples {
    std::string place;  ///< their file, for messages
    std::uint64_t count = 0;
    std::vector<std::uint32_t> words;  ///< of each, in row-major order

    std::size_t each() const { return words.size() / count; }
};

/// Images or arrays for an input. 8-bit pixels become numbers as the preparation says if the input is of
/// floats. Throws InputError.
Examples read_examples(const std::vector<run::InputFile>& files, const run::InputTensor& input,
                       const run::Preparation& preparation, const std::string& model);

/// Labels for an input: one number an example, or, where it has an axis of classes, 1 for the class of the
/// label and 0 for the others. Throws InputError for a label that is none of the classes.
Examples read_labels(const run::Content& file, const run::InputTensor& input);

/// Made-up examples: floats from -1 to 1, whole numbers from 0 to 7.
Examples random_examples(const run::InputTensor& input, std::uint64_t count, std::uint64_t seed);

/// The examples that one step takes, as the input's array; those of several begin with an axis of them.
run::OutputArray batch_of(const Examples& examples, std::span<const std::uint32_t> chosen,
                          const run::InputTensor& input);

/// The order of the first `count` examples in an epoch: the same from a seed on every computer, and another
/// one in each epoch.
std::vector<std::uint32_t> order_of_epoch(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch);

}  // namespace systole::train
