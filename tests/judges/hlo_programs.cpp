// Computes HLO programs by the reference of each operator, and on the chip without time, for `make
// judge-hlo`:
//
//     judge_hlo MACHINE.json FOLDER NAME...
//
// FOLDER/NAME.hlo is a module, FOLDER/NAME.inputs the bytes of its inputs, one behind the other. Programs
// whose bits are the same in both get FOLDER/NAME.outputs, the bytes of all outputs. A line for each program,
// in columns between tabs: name, result, more about it. Results:
//
//     equal    instructions of the program, layers with sums, the largest distance of a sum from the one in
//              float64, in parts of the sum of its addends' sizes
//     refused  the error of the compiler
//     differs  the first difference between chip and reference
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "base/user_error.h"
#include "compiler/compile.h"
#include "compiler/frontend/hlo.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/math/floats/word_values.h"
#include "sim/functional/tensor/tensor_executor.h"
#include "tests/judges/product_bounds.h"

namespace systole {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::uint32_t>;

/// The element of a value that each element of the file's array is.
std::vector<std::size_t> places_in(const ir::Value& value) {
    std::vector<std::size_t> places(value.shape.elements());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (value.file_axes.empty()) return places;
    const std::size_t rank = value.shape.rank();
    std::vector<std::size_t> strides(rank, 1);
    for (std::size_t axis = rank; axis-- > 1;) strides[axis - 1] = strides[axis] * value.shape[axis];
    for (std::size_t& place : places) {
        std::size_t rest = place;
        place = 0;
        for (std::size_t i = rank; i-- > 0;) {
            const std::uint32_t axis = value.file_axes[i];
            place += rest % value.shape[axis] * strides[axis];
            rest /= value.shape[axis];
        }
    }
    return places;
}

/// The numbers of all inputs, in the formats of the file.
std::vector<Words> read_inputs(const fs::path& path, const ir::Graph& graph) {
    const auto bytes = read_input_file<ModelError, std::vector<std::uint8_t>>(path);
    std::vector<Words> inputs;
    std::size_t place = 0;
    for (const ir::ValueId id : graph.inputs) {
        const ir::Value& value = graph.values[id];
        const DataType type = value.file_type.value_or(value.type);
        Words words(value.shape.elements());
        const std::size_t size = words.size() * bytes_of(type);
        if (place + size > bytes.size()) throw ModelError(fmt::format("{} ends early", path.string()));
        math::to_words(bytes.data() + place, type, words);
        place += size;
        Words& input = inputs.emplace_back(words.size());
        const std::vector<std::size_t> places = places_in(value);
        for (std::size_t i = 0; i < words.size(); ++i) input[places[i]] = words[i];
    }
    if (place != bytes.size()) {
        throw ModelError(
            fmt::format("{} has {} bytes; the inputs have {}", path.string(), bytes.size(), place));
    }
    return inputs;
}

/// The outputs; `bounds` is told all values.
std::vector<Words> by_reference(const ir::Graph& graph, const std::vector<Words>& inputs,
                                judge::ProductBounds& bounds) {
    std::vector<std::vector<std::uint8_t>> stored;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DataType type = graph.values[graph.inputs[i]].type;
        stored.emplace_back(inputs[i].size() * bytes_of(type));
        math::from_words(inputs[i], type, stored.back().data());
    }
    const std::vector<std::span<const std::uint8_t>> bytes(stored.begin(), stored.end());
    std::vector<Words> outputs;
    const auto observer = [&](ir::ValueId value, std::span<const std::uint8_t> numbers) {
        bounds.observe(value, numbers);
    };
    for (const auto& output : reference::run(graph, bytes, 1, observer)) {
        const DataType type = graph.values[graph.outputs[outputs.size()]].type;
        Words& words = outputs.emplace_back(output.size() / bytes_of(type));
        math::to_words(output.data(), type, words);
    }
    return outputs;
}

std::vector<Words> on_chip(const isa::Program& program, const machine::MachineConfig& machine,
                           const std::vector<Words>& inputs) {
    functional::TensorExecutor chip(
        program, {.vector_rows = machine.vector_memory.rows, .hbm_rows = machine.hbm_rows_of_core()});
    std::size_t input = 0;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Input) continue;
        const Words& words = inputs.at(input++);
        std::memcpy(chip.host_bytes(buffer).data(), words.data(), words.size() * sizeof(std::uint32_t));
    }
    chip.run();
    std::vector<Words> outputs;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Output) continue;
        const auto bytes = chip.host_bytes(buffer);
        Words& words = outputs.emplace_back(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(words.data(), bytes.data(), bytes.size());
    }
    return outputs;
}

/// The first difference; empty if there is none.
std::string difference(const std::vector<Words>& found, const std::vector<Words>& expected) {
    if (found.size() != expected.size())
        return fmt::format("{} outputs instead of {}", found.size(), expected.size());
    for (std::size_t output = 0; output < found.size(); ++output) {
        if (found[output].size() != expected[output].size()) {
            return fmt::format("output {} has {} elements instead of {}", output, found[output].size(),
                               expected[output].size());
        }
        for (std::size_t i = 0; i < found[output].size(); ++i) {
            if (found[output][i] == expected[output][i]) continue;
            return fmt::format("output {}, element {}: {:#x} instead of {:#x}", output, i, found[output][i],
                               expected[output][i]);
        }
    }
    return {};
}

/// Constants among the outputs stand in their places.
void write_outputs(const fs::path& path, const ir::Graph& graph, const std::vector<Words>& computed) {
    std::ofstream file(path, std::ios::binary);
    const auto write = [&](const ir::Value& value, const Words& of_value) {
        Words words;
        for (const std::size_t place : places_in(value)) words.push_back(of_value[place]);
        const DataType type = value.file_type.value_or(value.type);
        std::vector<char> bytes(words.size() * bytes_of(type));
        math::from_words(words, type, bytes.data());
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph.outputs.size() + graph.constant_outputs.size(); ++i) {
        const auto constant = std::ranges::find(graph.constant_outputs, i, &ir::Graph::ConstantOutput::place);
        if (constant == graph.constant_outputs.end()) {
            write(graph.values[graph.outputs[next]], computed[next]);
            ++next;
            continue;
        }
        Words words(constant->value.shape.elements());
        math::to_words(constant->value.constant->bytes().data(), constant->value.type, words);
        write(constant->value, words);
    }
    if (!file) throw ModelError(fmt::format("{} cannot be written", path.string()));
}

struct Verdict {
    std::string_view result = {};
    std::string text = {};
};

Verdict answer(const fs::path& folder, const std::string& name, const machine::MachineConfig& machine) {
    ir::Graph graph;
    isa::Program program;
    try {
        graph = hlo::read_hlo(folder / (name + ".hlo"), operators::registry());
        graph.state.clear();  // one step: the inputs that outputs replace are given
        graph = compiler::prepare(compiler::ready_for_run(graph), {}, machine);
        program = compiler::compile(graph, {}, machine, {}).program;
    } catch (const UserError& error) {
        return {"refused", error.what()};
    }
    const std::vector<Words> inputs = read_inputs(folder / (name + ".inputs"), graph);
    judge::ProductBounds bounds(graph);
    const std::vector<Words> expected = by_reference(graph, inputs, bounds);
    const std::string wrong = difference(on_chip(program, machine, inputs), expected);
    if (!wrong.empty()) return {"differs", wrong};
    write_outputs(folder / (name + ".outputs"), graph, expected);
    double worst = 0;
    for (const judge::LayerBound& layer : bounds.layers()) worst = std::max(worst, layer.worst);
    return {"equal", fmt::format("{} {} {:.3e}", program.instructions.size(), bounds.layers().size(), worst)};
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2) {
        fmt::print(stderr, "judge_hlo MACHINE.json FOLDER NAME...\n");
        return 2;
    }
    try {
        const auto machine = systole::machine::read_machine(std::filesystem::path(arguments[0]));
        for (std::size_t i = 2; i < arguments.size(); ++i) {
            const systole::Verdict verdict = systole::answer(arguments[1], arguments[i], machine);
            fmt::print("{}\t{}\t{}\n", arguments[i], verdict.result, verdict.text);
            std::fflush(stdout);
        }
    } catch (const systole::UserError& error) {
        fmt::print(stderr, "judge_hlo: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "judge_hlo: internal error: {}\n", error.what());
        return 70;
    }
    return 0;
}
