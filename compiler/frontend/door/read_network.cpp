#include "compiler/frontend/door/read_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "base/message_text.h"
#include "base/text_encoding.h"
#include "compiler/frontend/graph_json.h"
#include "compiler/frontend/hlo.h"
#include "compiler/frontend/keras_archive.h"
#include "compiler/frontend/keras_h5.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx/external_files.h"
#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"

namespace systole::frontend {
namespace {

/// A file format, recognized by the first bytes of the file.
struct Format {
    std::string_view name;
    bool (*matches)(std::string_view head);
    ir::Graph (*read)(const std::filesystem::path& path, WeightValues values, const ImportOptions& options);
    bool leaves_sizes_open = false;
    bool has_decoder_steps = false;
    bool is_tflite = false;
};

/// Throws ModelError unless the network has inputs and outputs.
void require_some_of_each(const ir::Graph& graph, const std::filesystem::path& path) {
    if (!graph.inputs.empty() && !graph.outputs.empty()) return;
    throw ModelError(fmt::format("{}: it has {} and {}; a network must have at least one of each",
                                 path.string(), counted(graph.inputs.size(), "input"),
                                 counted(graph.outputs.size(), "output")));
}

/// Also what is no JSON, but meant to be: the reader says what is wrong with it.
bool is_like_json(std::string_view head) {
    if (is_utf16(head)) return head.find('{') != std::string_view::npos;
    const std::string_view text = without_utf8_mark(head);
    const std::string_view shown = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return shown.starts_with('{') || shown.starts_with("//") || shown.starts_with("/*");
}

constexpr std::array formats{
    Format{.name = "Keras HDF5 (.h5)",
           .matches = [](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
           .read =
               [](const std::filesystem::path& path, WeightValues, const ImportOptions& options) {
                   return read_keras_h5(path, operators::registry(), options.shapes);
               },
           .leaves_sizes_open = true},
    Format{.name = "Keras archive (.keras)",
           .matches = [](std::string_view head) { return head.starts_with("PK\x03\x04"); },
           .read =
               [](const std::filesystem::path& path, WeightValues, const ImportOptions& options) {
                   return read_keras_archive(path, operators::registry(), options.shapes);
               },
           .leaves_sizes_open = true},
    Format{.name = "graph file (JSON)",
           .matches = is_like_json,
           .read = [](const std::filesystem::path& path, WeightValues values,
                      const ImportOptions&) { return read_graph_json(path, operators::registry(), values); }},
    Format{.name = "HLO module (.hlo, .hlo.gz)",
           .matches = hlo::is_hlo,
           .read = [](const std::filesystem::path& path, WeightValues,
                      const ImportOptions&) { return hlo::read_hlo(path, operators::registry()); }},
    Format{.name = "ONNX (.onnx)",
           .matches = is_onnx,
           .read =
               [](const std::filesystem::path& path, WeightValues, const ImportOptions& options) {
                   return read_onnx(path, operators::registry(), options.shapes);
               },
           .leaves_sizes_open = true,
           .has_decoder_steps = true},
    Format{.name = "the text of a graph (.txt)",
           .matches = ir::is_graph_text,
           .read =
               [](const std::filesystem::path& path, WeightValues, const ImportOptions&) {
                   return ir::parse_graph(read_input_file<ModelError>(path), path.string(),
                                          operators::registry());
               }},
    Format{.name = "TFLite (.tflite)",
           .matches = is_tflite,
           .read =
               [](const std::filesystem::path& path, WeightValues, const ImportOptions& options) {
                   return read_tflite(path, operators::registry(),
                                      {.runtime = options.tflite_runtime.value_or(newest_tflite_runtime),
                                       .signature = options.signature,
                                       .shapes = options.shapes});
               },
           .leaves_sizes_open = true,
           .is_tflite = true},
};

/// Throws ModelError for options that are not for files of the format.
void check_options(const ImportOptions& options, const Format& format, const std::filesystem::path& path) {
    if (options.tflite_runtime && !format.is_tflite) {
        throw ModelError(fmt::format(
            "{}: tflite_runtime is {}; only TFLite files have a runtime", path.string(),
            names_of(*options.tflite_runtime)[static_cast<std::size_t>(*options.tflite_runtime)]));
    }
    if (!options.signature.empty() && !format.is_tflite) {
        throw ModelError(fmt::format("{}: signature is {}; only TFLite files have signatures", path.string(),
                                     in_quotes(options.signature)));
    }
    if (options.shapes.step && !format.has_decoder_steps) {
        throw ModelError(
            fmt::format("{}: new_tokens is {}; only ONNX files of decoders take a number of tokens",
                        path.string(), options.shapes.step->new_tokens));
    }
    if (!options.shapes.given.empty() && !format.leaves_sizes_open) {
        const std::string& name = options.shapes.given.begin()->first;
        throw ModelError(fmt::format(
            "{}: the shape of its input{} is given; only Keras, ONNX and TFLite files leave sizes open",
            path.string(), name.empty() ? "" : " " + in_quotes(name)));
    }
}

std::string read_head(const std::filesystem::path& path) {
    constexpr std::size_t head_bytes = 64;
    check_input_file<ModelError>(path);
    std::ifstream file(path, std::ios::binary);
    std::array<char, head_bytes> head{};
    file.read(head.data(), head.size());
    return {head.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

ir::Graph read_network(const std::filesystem::path& path, WeightValues values, const ImportOptions& options) {
    const std::string head = read_head(path);
    if (head.empty()) throw ModelError(fmt::format("{}: it is empty", path.string()));
    std::vector<std::string_view> names;
    for (const Format& format : formats) {
        if (format.matches(head)) {
            check_options(options, format, path);
            ir::Graph graph = format.read(path, values, options);
            require_some_of_each(graph, path);
            return graph;
        }
        names.push_back(format.name);
    }
    // Meant to be JSON: its reader says what is wrong.
    if (path.extension() == ".json") return read_graph_json(path, operators::registry(), values);
    throw ModelError(
        fmt::format("{}: its format is not known; networks are read from {}", path.string(), joined(names)));
}

ir::Graph build_json_graph(std::string_view text, WeightValues values) {
    return build_json_graph(text, operators::registry(), values);
}

std::vector<std::filesystem::path> further_files(const std::filesystem::path& path) {
    if (input_fault(path) || !is_onnx(read_head(path))) return {};
    return onnx_file::external_files(path);
}

}  // namespace systole::frontend
