#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/run/run_config.h"
#include "sim/study/train/train.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/system/input_files.h"

/// Small programs with state, and what they are trained on.
namespace systole::tests {

/// state (3, 4) + change (3, 4); its second output is the sum of change. The module says that output 0 takes
/// the place of the state.
inline std::filesystem::path donated() {
    return std::filesystem::path(source_dir()) / "tests/golden/hlo/donated.hlo";
}

inline run::RunSpec spec_of(const std::filesystem::path& program,
                            const std::string& machine = "tpu_v2_1core") {
    run::RunConfig config;
    config.machine =
        (std::filesystem::path(source_dir()) / "configs/machines" / (machine + ".json")).string();
    config.model = program.string();
    return run::make_spec(config);
}

inline run::Content file_content(const std::string& path) {
    return {.name = path, .hash = "", .path = {path}};
}

/// Small whole numbers, of which sums in float32 are exact.
inline std::vector<float> whole_numbers(std::size_t count) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(static_cast<float>(static_cast<int>(i * 37 % 101) - 50));
    return numbers;
}

inline std::string bytes_of(const std::vector<float>& numbers) {
    std::string bytes(numbers.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

/// Labels of an IDX file.
inline std::string idx_labels(const std::vector<std::uint8_t>& labels) {
    std::string file("\0\0\x08\x01\0\0\0", 7);
    file += static_cast<char>(labels.size());
    file.append(labels.begin(), labels.end());
    return file;
}

inline std::vector<float> floats_of(const run::OutputArray& array) {
    std::vector<float> floats(array.stored.size() / sizeof(float));
    std::memcpy(floats.data(), array.stored.data(), array.stored.size());
    return floats;
}

/// The training of `donated`, on examples of four numbers each, three a step.
struct MadeTraining {
    explicit MadeTraining(std::size_t examples) : numbers(whole_numbers(examples * each)) {
        order.file.path = "t.json";
        order.file.images = "change";
        order.file.columns = {{"loss", "output 1"}};
        order.file.initial = {{.inputs = "*", .rule = run::InitialRule::Value, .value = 0.5}};
        order.step = spec_of(donated());
        order.step.data.input = {{.input = "", .content = file_content(examples_file(numbers))}};
    }

    std::string examples_file(const std::vector<float>& all) const {
        return folder.file("examples.npy",
                           npy("<f4", "(" + std::to_string(all.size() / each) + ", 4)", bytes_of(all)));
    }
    std::string labels_file(const std::vector<std::uint8_t>& labels) const {
        return folder.file("labels.idx", idx_labels(labels));
    }
    /// A program that answers a batch of two with x + the sums over the first axis of the state.
    std::string forward() const {
        return folder.file("forward.txt",
                           "graph \"forward\"\ninputs %0, %1\noutputs %3\n"
                           "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1x2x4 \"x\" file float32\n"
                           "%2 float32 1x1x4 \"sums\"\n%3 float32 1x2x4 \"answers\" file float32\n"
                           "%2 = word_reduce(%0) \"sums\" {reduction \"sum\", axes [1], keep 1, sum_tile 0}\n"
                           "%3 = word_chain(%1, %2) \"answers\" {steps [\"add 0 1\"]}\n");
    }

    static constexpr std::size_t batch = 3;
    static constexpr std::size_t each = 4;

    Folder folder;
    std::vector<float> numbers;
    train::Order order;
};

}  // namespace systole::tests
