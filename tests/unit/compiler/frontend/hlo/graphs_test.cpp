// Programs of JAX as graphs of words: their texts, and the numbers that the reference computes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/frontend/hlo.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_values.h"
#include "tests/support/files.h"
#include "tests/support/hlo_programs.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

/// The graph without the contents of constants, or why it is not compiled.
std::string text_of(const fs::path& file) {
    try {
        const ir::Graph graph = hlo::to_graph(hlo::read_module(file), operators::registry());
        CHECK(ir::find_fault(graph) == std::nullopt);
        return ir::summary_of(graph);
    } catch (const ModelError& error) {
        return fmt::format("refused: {}\n", error.what());
    }
}

TEST_CASE("Programs of JAX become their reviewed graphs", "[hlo]") {
    const bool writes = std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr;
    const std::vector<fs::path> files = hlo_files(".hlo");
    CHECK(files.size() >= 26);
    for (const fs::path& file : files) {
        INFO(file);
        const std::string text = text_of(file);
        const fs::path golden = fs::path(file).replace_extension(".graph");
        if (writes) std::ofstream(golden) << text;
        CHECK(text == text_in(golden));
    }
}

/// Whether a float is near to what it should be, as far as the numbers beside it may have been rounded.
bool is_near(float found, float expected, float largest) {
    if (std::isnan(expected)) return std::isnan(found);
    if (std::isinf(expected) || std::isinf(found)) return found == expected;
    constexpr float relative = 1e-5F;
    return std::abs(found - expected) <= relative * std::max(largest, std::abs(expected));
}

void check_output(const ir::Value& value, const std::vector<std::uint32_t>& found,
                  const std::vector<std::uint32_t>& expected) {
    if (is_integer(value.type)) {
        CHECK(found == expected);
        return;
    }
    float largest = 0;
    for (const std::uint32_t word : expected) {
        const float size = std::abs(std::bit_cast<float>(word));
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto number = std::bit_cast<float>(found[i]);
        const float wanted = math::settled(std::bit_cast<float>(expected[i]));  // no subnormal numbers
        if (!is_near(number, wanted, largest))
            FAIL("element " << i << " is " << number << " instead of " << wanted);
    }
}

TEST_CASE("The reference computes what JAX does", "[hlo]") {
    for (const fs::path& file : answer_files()) {
        INFO(file);
        ir::Graph graph = hlo::read_hlo(fs::path(file).replace_extension(".hlo"), operators::registry());
        graph.state.clear();  // one step: the inputs that outputs replace are given
        graph = passes::prepare_in_words(graph, {}, {});
        const ProgramAnswers answers = read_answers(file, graph);
        std::vector<std::vector<std::uint8_t>> inputs;
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            const ir::Value& value = graph.values[graph.inputs[i]];
            inputs.emplace_back(value.shape.elements() * bytes_of(value.type));
            math::from_words(answers.inputs[i], value.type, inputs.back().data());
        }
        const std::vector<std::span<const std::uint8_t>> bytes(inputs.begin(), inputs.end());
        const auto outputs = reference::run(graph, bytes, 1);
        REQUIRE(outputs.size() == answers.outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            INFO("output " << i);
            const ir::Value& value = graph.values[graph.outputs[i]];
            std::vector<std::uint32_t> words(value.shape.elements());
            math::to_words(outputs[i].data(), value.type, words);
            check_output(value, words, answers.outputs[i]);
        }
    }
}

}  // namespace
}  // namespace systole::tests
