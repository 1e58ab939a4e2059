#pragma once

#include <optional>
#include <vector>

#include "compiler/emit/instruction_stream.h"
#include "compiler/ir/feature_map.h"
#include "compiler/target/tpu_v1/emit/program_data.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/isa/instruction.h"

namespace systole::tpu_v1 {

/// Turns the operations of a schedule into instructions, in order, without `sync`. `synchronize` inserts
/// these afterwards, by the rows that instructions touch.
class Emitter {
public:
    Emitter(const Network& network, const Schedule& schedule, const HostMemory& memory);

    /// The instructions of all operations, followed by the interrupt of the host and halt.
    std::vector<isa::Instruction> emit();

    // One overload for each kind of operation.
    void operator()(const ReadInput& read);
    void operator()(const ReadConstants& read);
    void operator()(const ConvolveLines& work);
    void operator()(const MultiplyImages& work);
    void operator()(const ActivatePixels& work);
    void operator()(const PoolLines& work);
    void operator()(const CopyLines& work);
    void operator()(const ElementwiseRows& work);
    void operator()(const SendTensor& send);
    void operator()(const RunSegment& run);
    void operator()(const FetchTensor& fetch);
    void operator()(const WriteOutput& write);

private:
    /// The parameters that the activation unit has loaded; `load_parameters` is set if an instruction needs
    /// others.
    struct LoadedParameters {
        std::uint32_t parameters_row = 0;
        std::uint32_t columns = 0;
        std::optional<std::uint32_t> table_row;

        bool operator==(const LoadedParameters&) const = default;
    };

    /// Begins the work of a layer, under the tag of the layer with which it is computed.
    const Layer& begin_layer(std::uint32_t layer);
    /// The row at which an image of a tensor begins, or at which some rows of it do.
    std::uint32_t row_of(TensorId tensor, std::uint32_t image, const Piece& rows = {}) const;
    const Tensor& tensor(TensorId id) const { return network_.tensors[id]; }

    /// Images of a tensor in host memory.
    struct HostImages {
        std::uint64_t address = 0;      ///< of the first
        std::uint64_t image_bytes = 0;  ///< from one to the next
        std::uint32_t first = 0;        ///< its place in the unified buffer
        std::uint32_t count = 0;
        Piece rows = {};  ///< of each image; none: all
    };

    /// Moves a tensor of the chip to or from its place in each of the images in host memory.
    template <typename Transfer>
    void transfer(TensorId moved, std::uint64_t first_byte, const HostImages& images);
    template <typename Transfer>
    void exchange(const FetchTensor& work);
    /// Writes the weights of a tile from the layer's second input.
    void write_tile(const MatrixWork& work, const Layer& layer);
    /// Streams the negative of the first input's zero point against the tile in the array.
    void subtract_zero_point(const MatrixWork& work, const Layer& layer, isa::MatrixFlags flags);
    /// Multiplies the rows of a head with weights that the program writes.
    void multiply_head(const MatrixWork& work, const Layer& layer);
    /// Streams lines of windows, whose registers are set.
    void convolve(const MatrixWork& work, TensorId input, const isa::MatrixFlags& flags, const Piece& lines);
    isa::MatrixFlags fetch(const MatrixWork& work, const Layer& layer, const Tensor& input);
    void set_window(const ir::Window& window, TensorId input, const ir::FeatureMap& output);
    /// Sets the registers for the place of an output tensor's channels, from a channel on.
    void set_pixels(TensorId output, std::uint32_t first_channel);
    /// The same for a column tile of a tensor that lies by columns.
    void set_column(TensorId output, const Segment& segment, const Piece& rows);
    /// Sets the registers for the blocks of an output's pixels.
    void set_block(const PixelBlock& block, const ir::FeatureMap& output);
    void set_output_range(std::int32_t zero_point, std::int32_t minimum, std::int32_t maximum);
    void set_operands(const Elementwise& work, const Layer& layer);
    /// Sets the registers for the scales of a sum's operands.
    void set_scales(const Elementwise& sum);
    void elementwise(isa::VectorOperation operation, const Layer& layer, const Piece& rows);
    void append_vector(const isa::Vector& vector);
    /// The channels, or lines, of a concatenation before one of its inputs.
    std::uint32_t size_before(std::uint32_t layer, std::uint32_t input);

    /// The sizes before each input of the concatenation that was last asked for.
    struct Concatenated {
        std::optional<std::uint32_t> layer;
        std::vector<std::uint32_t> first;
    };

    const Network& network_;
    const Schedule& schedule_;
    const HostMemory& memory_;
    std::vector<std::uint16_t> segments_;  ///< by layer: the number of its host segment
    std::vector<std::uint32_t> tags_;      ///< by layer: that of the layer in whose name it is reported
    emit::InstructionStream stream_;
    std::optional<std::uint32_t> last_layer_;
    std::optional<LoadedParameters> loaded_;
    Concatenated concatenated_;
};

}  // namespace systole::tpu_v1
