// Computes a network by the reference of each operator, without a chip, and writes its outputs as `sim` does:
// for networks that the chip has no room for. It takes the options of `sim run` that the judges use:
//
//     judge_reference run --model FILE --input INPUTS.npz --outputs DIR [--float-outputs DIR]
//     [--tflite-runtime 2.19] [--batch N]
//
// A network that sums over the images of a batch needs `--batch`.
//
// With `--machine FILE`, of a machine that computes in floats, the compiler's passes prepare the network for
// it first, so that the outputs are the bits that the machine must give; `--precision highest` is
// `--set machine.matrix_unit.precision=highest`. `--bounds FILE` gets a line for each layer with sums, in
// columns between tabs: operator, addends of a sum, its largest distance from the sum in float64 (in parts of
// the sum of the addends' sizes), layer.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/conversion.h"
#include "base/input_file.h"
#include "base/stored_integers.h"
#include "base/user_error.h"
#include "compiler/compile.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/frontend/tflite_runtime.h"
#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "hw/machine/machine_config.h"
#include "sim/run/input/axes.h"
#include "sim/run/input/formats.h"
#include "sim/view/arrays/npy_file.h"
#include "sim/view/arrays/output_files.h"
#include "tests/judges/product_bounds.h"

namespace systole {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The numbers of an array in the type of the network's input.
Bytes bytes_of_array(const input::Array& array, DataType type) {
    return std::visit(
        [&](const auto& numbers) {
            Bytes bytes(numbers.size() * bytes_of(type));
            if (type == DataType::Float32) {
                const std::vector<float> floats(numbers.begin(), numbers.end());
                std::memcpy(bytes.data(), floats.data(), bytes.size());
            } else {
                std::vector<std::int32_t> integers;
                for (const auto number : numbers) integers.push_back(static_cast<std::int32_t>(number));
                narrow(integers, type, bytes.data());
            }
            return bytes;
        },
        array.values);
}

std::vector<float> real_numbers_of(const ir::Value& value, const Bytes& bytes) {
    std::vector<float> floats(bytes.size() / bytes_of(value.type));
    if (value.type == DataType::Float32) {
        std::memcpy(floats.data(), bytes.data(), bytes.size());
        return floats;
    }
    std::vector<std::int32_t> integers(floats.size());
    widen(bytes.data(), value.type, integers);
    for (std::size_t i = 0; i < floats.size(); ++i) {
        floats[i] = value.quantization ? real_number(integers[i], value.quantization->scales.front(),
                                                     value.quantization->zero_points.front())
                                       : static_cast<float>(integers[i]);
    }
    return floats;
}

/// The elements of some inferences in another order of axes (input::permuted), whatever their type.
Bytes permuted_bytes(const Bytes& bytes, std::uint64_t inferences, const ir::Value& value,
                     std::span<const std::uint32_t> axes) {
    if (axes.empty()) return bytes;
    const std::size_t each = bytes_of(value.type);
    std::vector<std::uint32_t> places(bytes.size() / each);
    std::iota(places.begin(), places.end(), std::uint32_t{0});
    const auto extents = value.shape.extents();
    std::vector<std::uint32_t> from(extents.begin(), extents.end());
    places = input::permuted(std::move(places), inferences, from, axes);
    Bytes moved;
    moved.reserve(bytes.size());
    for (const std::uint32_t place : places) {
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(place * each);
        moved.insert(moved.end(), first, first + static_cast<std::ptrdiff_t>(each));
    }
    return moved;
}

/// The elements of an input as the graph has them; files have them in the order of their own axes.
Bytes in_graph_order(const Bytes& bytes, std::uint64_t inferences, const ir::Value& value) {
    if (value.file_axes.empty()) return bytes;
    ir::Value in_file = value;
    const auto extents = value.shape.extents();
    in_file.shape = ir::Shape(
        input::permuted(std::vector<std::uint32_t>(extents.begin(), extents.end()), value.file_axes));
    return permuted_bytes(bytes, inferences, in_file, input::inverse(value.file_axes));
}

/// `named` is the network's own output, which may have lost its name where the network was prepared.
void write_output(const std::filesystem::path& folder, const ir::Value& value, const ir::Value& named,
                  std::uint64_t inferences, const Bytes& stored) {
    std::filesystem::create_directories(folder);
    const std::string name = arrays::file_name_of(named.name);
    const Bytes bytes = permuted_bytes(stored, inferences, value, value.file_axes);
    const auto extents = value.shape.extents();
    const std::vector<std::uint32_t> in_file =
        input::permuted(std::vector<std::uint32_t>(extents.begin(), extents.end()), value.file_axes);
    std::vector<std::uint64_t> shape(in_file.begin(), in_file.end());
    if (inferences > 1 && !shape.empty()) shape.front() *= inferences;
    const std::vector<float> floats = real_numbers_of(value, bytes);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(floats.data());
    arrays::write_npy(folder / (name + ".npy"), DataType::Float32, shape,
                      {first, floats.size() * sizeof(float)});
    if (value.type != DataType::Float32)
        arrays::write_npy(folder / (name + ".raw.npy"), value.type, shape, bytes);
}

/// The network as a machine of floats computes it.
ir::Graph prepared(const ir::Graph& graph, const std::map<std::string, std::string>& options) {
    machine::MachineConfig machine = machine::read_machine(std::filesystem::path(options.at("--machine")));
    if (const auto precision = options.find("--precision"); precision != options.end()) {
        const auto* const name = std::ranges::find(machine::matrix_precision_names, precision->second);
        if (name == machine::matrix_precision_names.end())
            throw ModelError(fmt::format("--precision {}", precision->second));
        machine.matrix_unit.precision =
            static_cast<machine::MatrixPrecision>(name - machine::matrix_precision_names.begin());
    }
    if (!machine.computes_floats()) {
        throw ModelError(fmt::format("--machine {} computes on integers", options.at("--machine")));
    }
    return compiler::prepare(compiler::ready_for_run(graph), {}, machine);
}

void write_bounds(const std::filesystem::path& path, const judge::ProductBounds& bounds) {
    std::ofstream file(path);
    for (const judge::LayerBound& each : bounds.layers()) {
        file << fmt::format("{}\t{}\t{:.3e}\t{}\n", each.op, each.addends, each.worst, each.layer);
    }
    if (!file) throw ModelError(fmt::format("--bounds {} cannot be written", path.string()));
}

/// As many images as the network computes together: all of them where none depends on others.
std::uint64_t batch_of(const ir::Graph& graph, const std::map<std::string, std::string>& options,
                       std::uint64_t inferences) {
    const auto given = options.find("--batch");
    if (given == options.end()) {
        if (!ir::mixes_images(graph)) return inferences;
        throw ModelError(fmt::format("{} sums over the images of a batch; give --batch", graph.name));
    }
    std::uint64_t batch = 0;
    const char* const end = given->second.data() + given->second.size();
    const auto [parsed, error] = std::from_chars(given->second.data(), end, batch);
    if (error != std::errc() || parsed != end || batch == 0 ||
        (ir::mixes_images(graph) && inferences % batch != 0)) {
        throw ModelError(
            fmt::format("--batch is {}; it must be a number of which the {} inferences are a "
                        "multiple",
                        given->second, inferences));
    }
    return batch;
}

void answer(const std::map<std::string, std::string>& options) {
    frontend::ImportOptions import;
    if (const auto runtime = options.find("--tflite-runtime"); runtime != options.end()) {
        const auto names = names_of(frontend::TfliteRuntime());
        const auto* const name = std::ranges::find(names, runtime->second);
        if (name == names.end()) throw ModelError(fmt::format("--tflite-runtime {}", runtime->second));
        import.tflite_runtime = static_cast<frontend::TfliteRuntime>(name - names.begin());
    }
    const std::string& input_path = options.at("--input");
    const auto archive = read_input_file<input::InputError, Bytes>(input_path);
    const std::vector<input::Array> given = input::read_npz(archive, input_path);
    for (const input::Array& array : given) {
        if (array.shape.empty()) continue;
        // The first axis is the number of inferences.
        std::vector<std::uint32_t> extents = array.shape;
        extents.front() = 1;
        import.shapes.of_data.emplace(array.name, ir::Shape(extents));
    }
    const ir::Graph in_file =
        frontend::read_network(options.at("--model"), frontend::WeightValues::Read, import);
    const ir::Graph graph = options.contains("--machine") ? prepared(in_file, options) : in_file;
    std::vector<Bytes> inputs;
    std::uint64_t inferences = 1;
    for (const ir::ValueId id : graph.inputs) {
        const ir::Value& value = graph.values[id];
        for (const input::Array& array : given) {
            // The one input of a network takes the one array that there is, as in `sim`.
            const bool is_only = given.size() == 1 && graph.inputs.size() == 1;
            if (array.name != value.name && !is_only) continue;
            inputs.push_back(bytes_of_array(array, value.type));
            const std::uint64_t size = value.shape.elements() * bytes_of(value.type);
            inferences = size == 0 ? 1 : inputs.back().size() / size;
            inputs.back() = in_graph_order(inputs.back(), inferences, value);
        }
    }
    judge::ProductBounds bounds(graph);
    const bool has_bounds = options.contains("--bounds");
    const auto observer =
        has_bounds ? [&bounds](ir::ValueId value,
                               std::span<const std::uint8_t> bytes) { bounds.observe(value, bytes); }
                   : reference::TensorObserver();
    const std::uint64_t batch = batch_of(graph, options, inferences);
    std::vector<Bytes> results(graph.outputs.size());
    for (std::uint64_t first = 0; first < inferences; first += batch) {
        const std::uint64_t count = std::min(batch, inferences - first);
        std::vector<std::span<const std::uint8_t>> some;
        for (const Bytes& input : inputs) {
            const std::size_t size = input.size() / inferences;
            some.push_back(std::span(input).subspan(first * size, count * size));
        }
        const auto of_batch = reference::run(graph, some, static_cast<std::uint32_t>(count), observer);
        for (std::size_t i = 0; i < results.size(); ++i)
            results[i].insert(results[i].end(), of_batch[i].begin(), of_batch[i].end());
    }
    if (has_bounds) write_bounds(options.at("--bounds"), bounds);
    for (const char* const folder : {"--outputs", "--float-outputs"}) {
        if (!options.contains(folder)) continue;
        for (std::size_t i = 0; i < results.size(); ++i) {
            write_output(options.at(folder), graph.values[graph.outputs[i]],
                         in_file.values[in_file.outputs.at(i)], inferences, results[i]);
        }
    }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
        if (arguments[i].starts_with("--")) options[arguments[i]] = arguments[i + 1];
    }
    try {
        systole::answer(options);
    } catch (const systole::UserError& error) {
        fmt::print(stderr, "judge_reference: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "judge_reference: internal error: {}\n", error.what());
        return 70;
    }
    return 0;
}
