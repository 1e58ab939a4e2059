#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"

namespace systole::tpu_v1 {

/// Lines [first, end) of the images of a tensor.
struct Lines {
    std::uint32_t first = 0;
    std::uint32_t end = 0;

    bool empty() const { return first >= end; }
    std::uint32_t count() const { return empty() ? 0 : end - first; }
    bool operator==(const Lines&) const = default;
};

/// The layer that makes the tensor, or 0, and the last layer of the chip that reads it, or that layer.
std::uint32_t first_layer(const AnalysedNetwork& analysed, TensorId id);
std::uint32_t last_layer(const AnalysedNetwork& analysed, TensorId id);
/// The tensor that has the rows of the whole tensor: itself or the concatenated one.
TensorId with_rows(const AnalysedNetwork& analysed, TensorId id);
/// Whether the tensor is an output, or read by a segment of the host.
bool ends_in_host(const mapping::TensorUse& use);
std::uint64_t line_bytes(const Tensor& tensor);

/// Where each tensor lies between the runs of layers that make and read it: whole in the unified buffer, in
/// host memory, or both.
struct Homes {
    std::vector<bool> on_chip;
    std::vector<bool> in_host;
};

/// Tensors that begin or end in host memory have a place there, as have those that are spilled; the others
/// and those that only end there are on the chip.
Homes homes_of(const AnalysedNetwork& analysed, const std::vector<bool>& spilled);

/// Consecutive layers [first, end) that are computed strip by strip: all of them for some lines of the last
/// layer's output, then for the next lines. A strip computes again what it needs of its neighbours' lines.
struct LayerRun {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t strips = 1;  ///< 1: the layers are computed whole

    auto operator<=>(const LayerRun&) const = default;
};

/// Whether the layer can be computed for some lines of its output.
bool can_be_cut(const AnalysedNetwork& analysed, std::uint32_t layer);

/// Whether the run leaves the tensor, which one of its layers makes, in a place: where a later run or the
/// host looks for it.
bool leaves_on_chip(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run, TensorId id);
bool leaves_in_host(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run, TensorId id);

/// Some lines of a tensor, in the unified buffer while a strip is computed.
struct StripPiece {
    TensorId tensor = 0;
    Lines lines;
    bool is_resident = false;                 ///< the whole tensor, which is there between runs
    std::optional<std::size_t> view_of = {};  ///< the piece whose rows have these lines
};

/// A step of a strip, on pieces.
struct StripStep {
    enum class Kind : std::uint8_t {
        Fetch,    ///< brings the output from host memory
        View,     ///< lets the output be lines of the input
        Compute,  ///< computes the layer
        Send,     ///< sends the input to host memory
    };
    Kind kind = Kind::Compute;
    std::uint32_t layer = 0;  ///< that it computes, or for which it moves data
    std::vector<std::size_t> inputs = {};
    std::size_t output = 0;
    TensorId host_tensor = 0;         ///< of Fetch and Send
    std::uint64_t first_element = 0;  ///< in its images
};

struct Strip {
    std::vector<StripPiece> pieces;
    std::vector<StripStep> steps;
    std::vector<std::size_t> kept;  ///< pieces of tensors that the run leaves on the chip strip by strip
};

/// Plans strip number `number` of a run; all tensors are where `homes` says. nullopt if the strip needs lines
/// that begin inside a row, where only whole rows can be addressed.
std::optional<Strip> plan_strip(const AnalysedNetwork& analysed, const Homes& homes, const LayerRun& run,
                                std::uint32_t number);

/// The lines of a tensor's windows or elements, by which the strip computes lines of the layer's output.
Lines lines_read(const AnalysedNetwork& analysed, std::uint32_t layer, std::size_t input,
                 const Lines& output);

/// The window of a layer for a strip whose input has the lines `input` of the layer's.
ir::Window window_of_strip(const ir::Window& window, const Lines& input, const Lines& output,
                           std::uint32_t input_height);

/// The most rows of the unified buffer that the pieces of a strip take together, and those of each layer of
/// the run. Resident tensors are not counted.
std::vector<std::uint64_t> rows_of_strip(const AnalysedNetwork& analysed, const LayerRun& run,
                                         const Strip& strip);

}  // namespace systole::tpu_v1
