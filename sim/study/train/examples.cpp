#include "sim/study/train/examples.h"

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "base/message_text.h"
#include "base/random_values.h"
#include "sim/run/arrays.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "sim/run/outputs.h"

namespace systole::train {
namespace {

using input::InputError;
using run::InputTensor;

/// What one example is of an input, whose first axis is the batch.
InputTensor example_of(const InputTensor& input) {
    const std::vector<std::uint32_t> shape = run::array_shape(input);
    if (shape.empty()) {
        throw InputError(fmt::format("input {} is one number; examples have an axis", in_quotes(input.name)));
    }
    return {.name = input.name, .shape = {shape.begin() + 1, shape.end()}, .type = input.type};
}

}  // namespace

Examples read_examples(const std::vector<run::InputFile>& files, const InputTensor& input,
                       const run::Preparation& preparation, const std::string& model) {
    const InputTensor example = example_of(input);
    if (input.type != DataType::Float32) {
        std::vector<run::NamedImages> read = run::read_arrays(files, {example}, model);
        Examples examples{.place = read.front().name, .count = read.front().images.count, .words = {}};
        examples.words = *read.front().images.words();
        return examples;
    }
    std::vector<run::NamedImages> read = run::read_inputs(files, {example}, preparation, model);
    const run::NamedImages& named = read.front();
    const run::Normalization normalization{
        .scale = preparation.scale, .mean = preparation.mean, .deviation = preparation.deviation};
    run::check_normalization(named, normalization);
    const std::vector<float> numbers = run::to_floats(named.images, 0, named.images.count, normalization);
    Examples examples{.place = named.name, .count = named.images.count, .words = {}};
    examples.words.reserve(numbers.size());
    for (const float number : numbers) examples.words.push_back(std::bit_cast<std::uint32_t>(number));
    return examples;
}

Examples read_labels(const run::Content& file, const InputTensor& input) {
    const std::string& path = file.path.text;
    const std::vector<std::uint32_t> labels = input::read_labels(path);
    const InputTensor example = example_of(input);
    Examples examples{.place = path, .count = labels.size(), .words = {}};
    if (example.shape.empty()) {
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const std::optional<std::uint32_t> word = input::exact_word(labels[i], input.type);
            if (!word) {
                throw InputError(fmt::format("{}: label {} is {}; input {} takes {}", path, i, labels[i],
                                             in_quotes(input.name), input::numbers_text(input.type)));
            }
            examples.words.push_back(*word);
        }
        return examples;
    }
    if (example.shape.size() > 1) {
        throw InputError(fmt::format("{}: input {} takes {} an example; labels are for one number or classes",
                                     path, in_quotes(input.name), input::shape_text(example.shape)));
    }
    const std::uint32_t classes = example.shape.front();
    const std::uint32_t one = input::exact_word(1.0, input.type).value();
    examples.words.resize(labels.size() * classes);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= classes) {
            throw InputError(fmt::format("{}: label {} is {}; input {} has {} classes, 0 to {}", path, i,
                                         labels[i], in_quotes(input.name), classes, classes - 1));
        }
        examples.words[i * classes + labels[i]] = one;
    }
    return examples;
}

Examples random_examples(const InputTensor& input, std::uint64_t count, std::uint64_t seed) {
    const run::NamedImages made = run::random_array(example_of(input), count, seed_for(seed, input.name));
    return {.place = made.name, .count = count, .words = *made.images.words()};
}

run::OutputArray batch_of(const Examples& examples, std::span<const std::uint32_t> chosen,
                          const InputTensor& input) {
    const std::vector<std::uint32_t> shape = run::array_shape(input);
    std::vector<std::uint32_t> words;
    words.reserve(chosen.size() * examples.each());
    for (const std::uint32_t example : chosen) {
        const auto first = examples.words.begin() + static_cast<std::ptrdiff_t>(example * examples.each());
        words.insert(words.end(), first, first + static_cast<std::ptrdiff_t>(examples.each()));
    }
    std::vector<std::uint64_t> whole(shape.begin(), shape.end());
    const std::size_t batches = chosen.size() / shape.front();
    if (batches > 1) whole.insert(whole.begin(), batches);
    return run::array_in_format(input.name, std::move(whole), input.type, words);
}

std::vector<std::uint32_t> order_of_epoch(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    SplitMix64 random(seed_for(seed, fmt::format("epoch {}", epoch)));
    // Fisher and Yates: each of those that are left is as likely as the others, up to 2^-32.
    for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[static_cast<std::size_t>(random.next() % left)]);
    return order;
}

}  // namespace systole::train
