#pragma once

#include <optional>
#include <vector>

#include "compiler/emit/instruction_stream.h"
#include "compiler/emit/program_data.h"
#include "compiler/ir/feature_map.h"
#include "compiler/mapping/network.h"
#include "compiler/mapping/pixel_block.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/instruction.h"

namespace systole::emit {

/// Turns the operations of a schedule into instructions, in order, without `sync`. `synchronize` inserts
/// these afterwards, by the rows that instructions touch.
class Emitter {
public:
    Emitter(const mapping::Network& network, const schedule::Schedule& schedule, const HostMemory& memory);

    /// The instructions of all operations, followed by the interrupt of the host and halt.
    std::vector<isa::Instruction> emit();

    // One overload for each kind of operation.
    void operator()(const schedule::ReadInput& read);
    void operator()(const schedule::ReadConstants& read);
    void operator()(const schedule::ConvolveLines& work);
    void operator()(const schedule::MultiplyImages& work);
    void operator()(const schedule::ActivatePixels& work);
    void operator()(const schedule::PoolLines& work);
    void operator()(const schedule::CopyLines& work);
    void operator()(const schedule::ElementwiseRows& work);
    void operator()(const schedule::SendTensor& send);
    void operator()(const schedule::RunSegment& run);
    void operator()(const schedule::FetchTensor& fetch);
    void operator()(const schedule::WriteOutput& write);

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
    const mapping::Layer& begin_layer(std::uint32_t layer);
    /// The row at which an image of a tensor begins, or at which some rows of it do.
    std::uint32_t row_of(mapping::TensorId tensor, std::uint32_t image,
                         const mapping::Piece& rows = {}) const;
    const mapping::Tensor& tensor(mapping::TensorId id) const { return network_.tensors[id]; }

    /// Images of a tensor in host memory.
    struct HostImages {
        std::uint64_t address = 0;      ///< of the first
        std::uint64_t image_bytes = 0;  ///< from one to the next
        std::uint32_t first = 0;        ///< its place in the unified buffer
        std::uint32_t count = 0;
        mapping::Piece rows = {};  ///< of each image; none: all
    };

    /// Moves a tensor of the chip to or from its place in each of the images in host memory.
    template <typename Transfer>
    void transfer(mapping::TensorId moved, std::uint64_t first_byte, const HostImages& images);
    template <typename Transfer>
    void exchange(const schedule::FetchTensor& work);
    isa::MatrixFlags fetch(const schedule::MatrixWork& work, const mapping::Layer& layer,
                           const mapping::Tensor& input);
    void set_window(const ir::Window& window, mapping::TensorId input, const ir::FeatureMap& output);
    /// Sets the registers for the place of an output tensor's channels, from a channel on.
    void set_pixels(mapping::TensorId output, std::uint32_t first_channel);
    /// The same for a column tile of a tensor that lies by columns.
    void set_column(mapping::TensorId output, const schedule::Segment& segment, const mapping::Piece& rows);
    /// Sets the registers for the blocks of an output's pixels.
    void set_block(const mapping::PixelBlock& block, const ir::FeatureMap& output);
    void set_output_range(std::int32_t zero_point, std::int32_t minimum, std::int32_t maximum);
    void set_operands(const mapping::Elementwise& work, const mapping::Layer& layer);
    /// Sets the registers for the scales of a sum's operands.
    void set_scales(const mapping::Elementwise& sum);
    void elementwise(isa::VectorOperation operation, const mapping::Layer& layer, const mapping::Piece& rows);
    void append_vector(const isa::Vector& vector);
    /// The channels, or lines, of a concatenation before one of its inputs.
    std::uint32_t size_before(std::uint32_t layer, std::uint32_t input);

    /// The sizes before each input of the concatenation that was last asked for.
    struct Concatenated {
        std::optional<std::uint32_t> layer;
        std::vector<std::uint32_t> first;
    };

    const mapping::Network& network_;
    const schedule::Schedule& schedule_;
    const HostMemory& memory_;
    std::vector<std::uint16_t> segments_;  ///< by layer: the number of its host segment
    std::vector<std::uint32_t> tags_;      ///< by layer: that of the layer in whose name it is reported
    InstructionStream stream_;
    std::optional<std::uint32_t> last_layer_;
    std::optional<LoadedParameters> loaded_;
    Concatenated concatenated_;
};

}  // namespace systole::emit
