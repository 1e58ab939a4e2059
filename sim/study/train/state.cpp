#include "sim/study/train/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "base/message_text.h"
#include "base/name_pattern.h"
#include "base/random_values.h"
#include "hw/machine/config_error.h"
#include "sim/run/arrays.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/formats.h"
#include "sim/run/outputs.h"
#include "sim/view/arrays/npy_file.h"

namespace systole::train {
namespace {

using input::InputError;
using run::InputTensor;
using run::OutputArray;

/// The fans of a kernel whose last two axes are features in and out, behind those of its window.
struct Fans {
    double in = 0.0;
    double out = 0.0;
};

Fans fans_of(const std::vector<std::uint32_t>& shape) {
    const auto size = [](std::uint64_t product, std::uint32_t extent) { return product * extent; };
    const std::uint64_t window = std::accumulate(shape.begin(), shape.end() - 2, std::uint64_t{1}, size);
    return {.in = static_cast<double>(window * shape[shape.size() - 2]),
            .out = static_cast<double>(window * shape.back())};
}

/// Between 0 and 1, without 0.
double uniform(SplitMix64& random) {
    constexpr unsigned dropped = 11;  // 53 bits are left
    return (static_cast<double>(random.next() >> dropped) + 0.5) * 0x1p-53;
}

/// A normal number (Box and Muller, 1958) that is drawn again beyond two deviations.
double cut_normal(SplitMix64& random) {
    constexpr double most = 2.0;
    while (true) {
        const double radius = std::sqrt(-2.0 * std::log(uniform(random)));
        const double number = radius * std::cos(2.0 * std::numbers::pi * uniform(random));
        if (std::abs(number) <= most) return number;
    }
}

[[noreturn]] void fail(const InputTensor& input, const std::string& place, std::string_view rule) {
    throw machine::ConfigError(fmt::format("{}: input {} is {} {}; {}", place, in_quotes(input.name),
                                           name_of(input.type), input::shape_text(run::array_shape(input)),
                                           rule));
}

/// The word of a number, rounded to the format if that is one of floats.
std::uint32_t word_of(double number, const InputTensor& input, const std::string& place) {
    if (!is_float(input.type)) {
        const std::optional<std::uint32_t> word = input::exact_word(number, input.type);
        if (!word) {
            throw machine::ConfigError(fmt::format("{}: {} is for input {}, which is {}", place, number,
                                                   in_quotes(input.name), input::numbers_text(input.type)));
        }
        return *word;
    }
    const std::optional<std::uint32_t> word = input::rounded_word(number, input.type);
    if (!word) fail(input, place, fmt::format("{} is beyond its largest number", number));
    return *word;
}

/// An array whose words `next` gives.
template <class Next>
OutputArray made(const InputTensor& input, const Next& next) {
    const std::vector<std::uint32_t> shape = run::array_shape(input);
    std::size_t size = 1;
    for (const std::uint32_t extent : shape) size *= extent;
    std::vector<std::uint32_t> words(size);
    for (std::uint32_t& word : words) word = next();
    return run::array_in_format(input.name, {shape.begin(), shape.end()}, input.type, words);
}

OutputArray by_rule(const InputTensor& input, const run::InitialValues& rule, const std::string& place,
                    std::uint64_t seed) {
    SplitMix64 random(seed_for(seed, input.name));
    const auto kernel_fans = [&] {
        const std::vector<std::uint32_t> shape = run::array_shape(input);
        if (!is_float(input.type)) fail(input, place, "the rule is for floats");
        if (shape.size() < 2) fail(input, place, "the rule is for kernels, which have at least two axes");
        return fans_of(shape);
    };
    const auto real = [&](double number) { return word_of(number, input, place); };
    switch (rule.rule) {
        case run::InitialRule::Zeros:
            return filled(input, 0.0, place);
        case run::InitialRule::Ones:
            return filled(input, 1.0, place);
        case run::InitialRule::Value:
            return filled(input, rule.value.value(), place);
        case run::InitialRule::GlorotUniform: {
            const Fans fans = kernel_fans();
            const double limit = std::sqrt(6.0 / (fans.in + fans.out));
            return made(input, [&] { return real((2.0 * uniform(random) - 1.0) * limit); });
        }
        case run::InitialRule::HeNormal: {
            // The deviation of the normal distribution that is cut at two of its deviations.
            constexpr double of_cut = 0.87962566103423978;
            const double deviation = std::sqrt(2.0 / kernel_fans().in) / of_cut;
            return made(input, [&] { return real(cut_normal(random) * deviation); });
        }
        case run::InitialRule::RandomBits: {
            if (is_float(input.type)) fail(input, place, "random bits are for whole numbers");
            // A truth value is one bit, other formats keep the lowest ones.
            const unsigned dropped = input.type == DataType::Bool ? 63 : 32;
            return made(input, [&] { return static_cast<std::uint32_t>(random.next() >> dropped); });
        }
    }
    throw std::logic_error("a rule that does not exist");
}

/// The array of an archive that has this name; false if it has none.
bool read_array(OutputArray& array, const input::ArrayFile& file, const InputTensor& input) {
    if (std::ranges::find(file.names(), input.name) == file.names().end()) return false;
    const input::WordArray read = file.read(input.name, {.name = input.name, .type = input.type});
    const std::vector<std::uint32_t> wanted = run::array_shape(input);
    if (read.shape != wanted) {
        throw InputError(fmt::format("{}: its shape is {}; input {} is {}", file.place_of(input.name),
                                     input::shape_text(read.shape), in_quotes(input.name),
                                     input::shape_text(wanted)));
    }
    array = run::array_in_format(input.name, {wanted.begin(), wanted.end()}, input.type, read.words);
    return true;
}

input::ArrayFile open_archive(const std::filesystem::path& path) {
    input::ArrayFile file(path);
    if (!file.is_archive()) throw InputError(fmt::format("{}: it is no .npz file", path.string()));
    return file;
}

std::uint32_t read_number(const input::ArrayFile& file, const std::string& name) {
    if (std::ranges::find(file.names(), name) == file.names().end())
        throw InputError(fmt::format("{}: it has no such array, and is no checkpoint", file.place_of(name)));
    const input::WordArray read = file.read(name, {.name = name, .type = DataType::Uint32});
    if (read.words.size() != 1)
        throw InputError(fmt::format("{}: it must be one number", file.place_of(name)));
    return read.words.front();
}

arrays::NamedArray number_array(const char* name, std::uint32_t number) {
    const OutputArray array = run::array_in_format(name, {}, DataType::Uint32, std::vector{number});
    return {.name = array.name, .type = array.type, .shape = {}, .values = array.stored};
}

}  // namespace

std::vector<OutputArray> initial_state(const std::vector<InputTensor>& inputs, const run::TrainingFile& file,
                                       std::uint64_t seed) {
    std::vector<OutputArray> state;
    for (const InputTensor& input : inputs) {
        const auto rule = std::ranges::find_if(file.initial, [&](const run::InitialValues& each) {
            return fits_pattern(input.name, each.inputs);
        });
        if (rule == file.initial.end()) {
            throw machine::ConfigError(fmt::format("{}: no rule of initial fits input {}, which is state",
                                                   file.path, in_quotes(input.name)));
        }
        state.push_back(
            by_rule(input, *rule, fmt::format("{}: initial, {}", file.path, in_quotes(rule->inputs)), seed));
    }
    return state;
}

OutputArray filled(const InputTensor& input, double number, const std::string& place) {
    const std::uint32_t word = word_of(number, input, place);
    return made(input, [&] { return word; });
}

void read_state(std::vector<OutputArray>& state, const std::vector<InputTensor>& inputs,
                const std::filesystem::path& path) {
    const input::ArrayFile file = open_archive(path);
    bool is_used = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) is_used |= read_array(state[i], file, inputs[i]);
    if (is_used) return;
    throw InputError(fmt::format(
        "{}: none of its {} arrays has the name of an input that is state, such as {}", path.string(),
        file.names().size(), in_quotes(inputs.empty() ? "" : inputs.front().name)));
}

void write_checkpoint(const std::vector<OutputArray>& state, const Progress& progress,
                      const std::filesystem::path& path) {
    std::vector<arrays::NamedArray> written{number_array(steps_array, progress.steps),
                                            number_array(seed_array, progress.seed)};
    for (const OutputArray& array : state)
        written.push_back(
            {.name = array.name, .type = array.type, .shape = array.shape, .values = array.stored});
    arrays::write_npz(path, written);
}

Progress read_checkpoint(std::vector<OutputArray>& state, const std::vector<InputTensor>& inputs,
                         const std::filesystem::path& path) {
    const input::ArrayFile file = open_archive(path);
    const Progress progress{.steps = read_number(file, steps_array), .seed = read_number(file, seed_array)};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (read_array(state[i], file, inputs[i])) continue;
        throw InputError(fmt::format("{}: it has no array {}, which is state of the program", path.string(),
                                     in_quotes(inputs[i].name)));
    }
    return progress;
}

}  // namespace systole::train
