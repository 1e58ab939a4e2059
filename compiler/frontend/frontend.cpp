#include "compiler/frontend/frontend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include "compiler/frontend/graph_json.h"
#include "compiler/frontend/keras_archive.h"
#include "compiler/frontend/keras_h5.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx/external_files.h"
#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/ir/text.h"
#include "hw/base/input_file.h"
#include "hw/base/text_encoding.h"

namespace systole::frontend {
namespace {

/// A file format, recognized by the first bytes of the file.
struct Format {
    std::string_view name;
    bool (*matches)(std::string_view head);
    ir::Graph (*read)(const std::filesystem::path& path, const ir::OperatorSet& operators,
                      WeightValues values);
};

/// Throws ModelError unless the network has inputs and outputs.
void require_some_of_each(const ir::Graph& graph, const std::filesystem::path& path) {
    if (!graph.inputs.empty() && !graph.outputs.empty()) return;
    throw ModelError(fmt::format("{}: it has {} and {}; a network must have at least one of each",
                                 path.string(), ir::counted(graph.inputs.size(), "input"),
                                 ir::counted(graph.outputs.size(), "output")));
}

/// Also what is no JSON, but meant to be: the reader says what is wrong with it.
bool is_like_json(std::string_view head) {
    if (is_utf16(head)) return head.find('{') != std::string_view::npos;
    const std::string_view text = without_utf8_mark(head);
    const std::string_view shown = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return shown.starts_with('{') || shown.starts_with("//") || shown.starts_with("/*");
}

constexpr std::array formats{
    Format{"Keras HDF5 (.h5)", [](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
           [](const std::filesystem::path& path, const ir::OperatorSet& operators, WeightValues) {
               return read_keras_h5(path, operators);
           }},
    Format{"Keras archive (.keras)", [](std::string_view head) { return head.starts_with("PK\x03\x04"); },
           [](const std::filesystem::path& path, const ir::OperatorSet& operators, WeightValues) {
               return read_keras_archive(path, operators);
           }},
    Format{"graph file (JSON)", is_like_json, read_graph_json},
    Format{"ONNX (.onnx)", is_onnx,
           [](const std::filesystem::path& path, const ir::OperatorSet& operators, WeightValues) {
               return read_onnx(path, operators);
           }},
    Format{"the text of a graph (.txt)", ir::is_graph_text,
           [](const std::filesystem::path& path, const ir::OperatorSet& operators, WeightValues) {
               return ir::parse_graph(read_input_file<ModelError>(path), path.string(), operators);
           }},
    Format{"TFLite (.tflite)", is_tflite,
           [](const std::filesystem::path& path, const ir::OperatorSet& operators, WeightValues) {
               return read_tflite(path, operators);
           }},
};

std::string read_head(const std::filesystem::path& path) {
    constexpr std::size_t head_bytes = 64;
    check_input_file<ModelError>(path);
    std::ifstream file(path, std::ios::binary);
    std::array<char, head_bytes> head{};
    file.read(head.data(), head.size());
    return {head.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values) {
    const std::string head = read_head(path);
    if (head.empty()) throw ModelError(fmt::format("{}: it is empty", path.string()));
    std::vector<std::string_view> names;
    for (const Format& format : formats) {
        if (format.matches(head)) {
            ir::Graph graph = format.read(path, operators, values);
            require_some_of_each(graph, path);
            return graph;
        }
        names.push_back(format.name);
    }
    throw ModelError(fmt::format("{}: its format is not known; networks are read from {}", path.string(),
                                 ir::joined(names)));
}

ir::Graph read_network(const std::filesystem::path& path, const ir::OperatorSet& operators,
                       WeightValues values, const ImportOptions& options) {
    if (options.shapes.empty() && !options.tflite_runtime) return read_network(path, operators, values);
    const std::string head = read_head(path);
    if (options.tflite_runtime && !is_tflite(head)) {
        throw ModelError(fmt::format(
            "{}: tflite_runtime is {}; only TFLite files have a runtime", path.string(),
            names_of(*options.tflite_runtime)[static_cast<std::size_t>(*options.tflite_runtime)]));
    }
    if (!options.shapes.empty() && !is_onnx(head)) {
        const std::string& name = options.shapes.begin()->first;
        throw ModelError(
            fmt::format("{}: the shape of its input{} is given; only ONNX files leave sizes open",
                        path.string(), name.empty() ? "" : " " + ir::quoted(name)));
    }
    ir::Graph graph = options.tflite_runtime ? read_tflite(path, operators, *options.tflite_runtime)
                                             : read_onnx(path, operators, options.shapes);
    require_some_of_each(graph, path);
    return graph;
}

std::vector<std::filesystem::path> further_files(const std::filesystem::path& path) {
    if (input_fault(path) || !is_onnx(read_head(path))) return {};
    return onnx_file::external_files(path);
}

}  // namespace systole::frontend
