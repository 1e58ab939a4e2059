#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/frontend/hlo.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "hw/math/floats/word_values.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

/// The programs of tests/golden/hlo, with the inputs and answers that JAX gave
/// (tests/judges/hlo/make_answers.py), and those of its folder `drawn` (tests/judges/hlo/select_golden.py).
namespace systole::tests {

inline std::vector<std::filesystem::path> hlo_files(const std::string& extension,
                                                    const std::string& folder = "tests/golden/hlo") {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(source_dir()) / folder)) {
        if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

/// The answers of all programs.
inline std::vector<std::filesystem::path> answer_files() {
    std::vector<std::filesystem::path> files = hlo_files(".answers");
    const std::vector<std::filesystem::path> drawn = hlo_files(".answers", "tests/golden/hlo/drawn");
    CHECK(files.size() >= 19);
    CHECK(drawn.size() >= 60);
    files.insert(files.end(), drawn.begin(), drawn.end());
    return files;
}

/// Elements as words, by input or output of a program.
using ProgramWords = std::vector<std::vector<std::uint32_t>>;

struct ProgramAnswers {
    ProgramWords inputs;
    ProgramWords outputs;  ///< those that are computed
};

inline ProgramAnswers read_answers(const std::filesystem::path& file, const ir::Graph& graph) {
    const std::string bytes = text_in(file);
    std::size_t place = 0;
    const auto take = [&](const ir::Value& value) {
        const DataType type = value.file_type.value_or(value.type);
        std::vector<std::uint32_t> words(value.shape.elements());
        REQUIRE(place + words.size() * bytes_of(type) <= bytes.size());
        math::to_words(bytes.data() + place, type, words);
        place += words.size() * bytes_of(type);
        return words;
    };
    ProgramAnswers answers;
    for (const ir::ValueId input : graph.inputs) answers.inputs.push_back(take(graph.values[input]));
    std::size_t computed = 0;
    for (std::size_t i = 0; i < graph.outputs.size() + graph.constant_outputs.size(); ++i) {
        const auto constant = std::ranges::find(graph.constant_outputs, i, &ir::Graph::ConstantOutput::place);
        if (constant != graph.constant_outputs.end()) {
            static_cast<void>(take(constant->value));
            continue;
        }
        answers.outputs.push_back(take(graph.values[graph.outputs[computed++]]));
    }
    REQUIRE(place == bytes.size());
    return answers;
}

}  // namespace systole::tests
