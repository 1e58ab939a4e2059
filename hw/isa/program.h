#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/conversion.h"
#include "base/data_type.h"
#include "hw/isa/chain.h"
#include "hw/isa/instruction.h"
#include "hw/isa/memory.h"
#include "hw/isa/resident.h"
#include "hw/isa/row_range.h"
#include "hw/isa/tensor_shape.h"
#include "hw/isa/tile_grid.h"

namespace systole::isa {

/// The kind of machine that a program was made for, and the sizes on which its instructions depend: an array
/// with a unified buffer, an array with a vector memory (a tensor core), or tiles.
struct Geometry {
    std::uint32_t rows = 256;     ///< array rows = bytes of a unified-buffer row
    std::uint32_t columns = 256;  ///< array columns = elements of an accumulator row
    TileGrid tiles = {};          ///< of a program for a machine with tiles, which has no array
    TensorShape tensor = {};      ///< of a program for a machine with a tensor core

    bool has_tiles() const { return tiles.lines > 0; }
    bool has_tensor_core() const { return tensor.lanes > 0; }
    /// An array with a unified buffer and accumulators.
    bool has_unified_buffer() const { return !has_tiles() && !has_tensor_core(); }

    bool operator==(const Geometry&) const = default;
};

/// One tile of the weight image. In weight memory it always takes rows * columns of the array, even if only a
/// part is used.
struct WeightTile {
    std::uint32_t rows = 0;          ///< used array rows, from row 0
    std::uint32_t columns = 0;       ///< used array columns, from column 0
    DataType type = DataType::Int8;  ///< int8 or int16
    /// Multiply-accumulates with this tile that a streamed row needs: rows * columns, or fewer if the layer
    /// has structural zeros in the tile (a depthwise convolution).
    std::uint32_t useful_macs = 0;
    /// rows * columns weights, row by row, little endian, two's complement. Empty in a program that is only
    /// timed; such a program cannot be written to a file or run with values.
    std::vector<std::uint8_t> values = {};
    /// Those of `useful_macs` for each pixel of a block (block.* registers), line by line of the block; they
    /// sum to it. Empty for a tile whose columns belong to one pixel. A `convolve` with blocks counts those
    /// for pixels inside the output image.
    std::vector<std::uint32_t> block_macs = {};

    bool operator==(const WeightTile&) const = default;
};

/// Bytes that the tile takes in weight memory.
constexpr std::uint64_t memory_bytes(const WeightTile& tile, const Geometry& geometry) {
    return std::uint64_t{geometry.rows} * geometry.columns * bytes_of(tile.type);
}

enum class BufferKind : std::uint8_t {
    Input,     ///< the host fills it before the run
    Output,    ///< the host reads it after the run
    Constant,  ///< parameters; the program carries the contents
    Exchange,  ///< values inside the network: chip or host writes them, and chip or host reads them
};

/// "input", "output", "constant", "exchange": the names used in assembly, in the order of the kinds.
std::span<const std::string_view> buffer_kind_names();

/// A range of host memory. Ranges do not overlap.
struct HostBuffer {
    std::string name;
    BufferKind kind = BufferKind::Input;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::vector<std::uint8_t> contents = {};  ///< `bytes` bytes for Constant, else empty
    /// Bytes behind those of the buffer, which belong to it and which nobody reads: inferences that fill up
    /// the last batch where several cores have equal parts of it. Only of machines with tensor cores.
    std::uint64_t padding = 0;

    std::uint64_t all_bytes() const { return bytes + padding; }
    bool operator==(const HostBuffer&) const = default;
};

/// The contents of rows of a memory before the first instruction; all other rows hold zeros.
struct InitialRows {
    std::uint64_t first_row = 0;
    /// From the first byte of the first row on. Accumulators: whole rows of int32, little endian.
    std::vector<std::uint8_t> values = {};

    bool operator==(const InitialRows&) const = default;
};

/// The lines of the text from which a program was assembled, for messages. They are not part of the program:
/// a program read from a file has none and is equal to the one that was written.
struct SourceLines {
    std::vector<std::uint32_t> of_instructions;  ///< from 1, by instruction; empty: there is no text

    bool operator==(const SourceLines&) const { return true; }
};

/// A quantized tensor at the border between host and chip: real = scale * (stored - zero_point). A program
/// for a tensor core has a word of 4 bytes for each element in host memory, whatever the type: a float32, or
/// the float32 that a float of 16 bits is, or a whole number.
struct BorderTensor {
    std::string name;
    std::vector<std::uint32_t> shape = {};  ///< of one inference
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;
    Conversion conversion = Conversion::Nearest;  ///< of an input's real numbers to stored ones
    /// Of a program of several replicas: the axis of `shape` along which the parts of all replicas lie in the
    /// array in the file; absent: all have the same array.
    std::optional<std::uint32_t> split_axis = {};

    Storage storage() const { return {scale, zero_point, type, conversion}; }

    bool operator==(const BorderTensor&) const = default;
};

/// An operation that the host computes on the last output tensor, in order.
struct HostOperation {
    std::string kind;   ///< "softmax"
    std::string layer;  ///< the layer it belongs to

    bool operator==(const HostOperation&) const = default;
};

/// A tensor that a segment of the host reads or writes.
struct SegmentTensor {
    std::uint32_t buffer = 0;  ///< of Program::buffers; inference i begins at byte i * bytes
    std::uint64_t bytes = 0;   ///< of one inference

    bool operator==(const SegmentTensor&) const = default;
};

/// Layers of the network that the host computes between the chip's work: a graph from tensors in host memory
/// to tensors in host memory, which `host_work` computes for some inferences.
struct HostSegment {
    std::string name;
    std::vector<std::string> layers = {};    ///< that it computes
    std::vector<std::uint64_t> macs = {};    ///< of one inference, by layer; empty: none has any
    std::uint64_t operations = 0;            ///< floating-point operations of one inference
    std::uint64_t bytes = 0;                 ///< memory traffic of one inference, besides that of constants
    std::uint64_t constant_bytes = 0;        ///< constants, which each host_work reads once
    std::vector<SegmentTensor> reads = {};   ///< in the order of the graph's inputs
    std::vector<SegmentTensor> writes = {};  ///< in the order of the graph's outputs
    std::string graph = {};  ///< text of the graph, with constants; empty in a program that is only timed

    bool operator==(const HostSegment&) const = default;
};

/// The layer of the network that a tag stands for.
struct LayerInfo {
    std::string name;        ///< as in the network file
    std::string kind;        ///< "convolution", "dense", ...
    std::uint64_t macs = 0;  ///< multiply-accumulates of the layer for one inference

    bool operator==(const LayerInfo&) const = default;
};

/// An input and the output that replaces it in the next batch, by their numbers. The chip keeps them from
/// batch to batch: the host feeds the input before the first batch and reads the output after the last, so
/// that their buffers hold one batch. Only of machines with tensor cores.
struct StateTensors {
    std::uint32_t input = 0;
    std::uint32_t output = 0;

    bool operator==(const StateTensors&) const = default;
};

/// An output of the network that nothing computes: it is the same for all inferences.
struct ConstantOutput {
    std::uint32_t place = 0;  ///< among all outputs of the network
    BorderTensor tensor;
    std::vector<std::uint8_t> words = {};  ///< of its elements, each of 4 bytes

    bool operator==(const ConstantOutput&) const = default;
};

/// What files have for the inputs and outputs of a program for a tensor core: arrays, whose numbers keep
/// their values, and no images.
struct ArrayFiles {
    /// Above 1: the inferences of a batch are those of so many replicas, and share an array.
    std::uint32_t replicas = 1;
    std::vector<ConstantOutput> constants = {};  ///< in the order of their places

    bool operator==(const ArrayFiles&) const = default;
};

/// Everything a run needs besides the machine and the data.
struct Program {
    Geometry geometry;
    std::vector<Instruction> instructions;
    std::vector<WeightTile> tiles;
    std::vector<HostBuffer> buffers;
    std::vector<Chain> chains;  ///< of a program for a tensor core
    /// Only initial_memories have any. No two entries of a memory have a row in common.
    ByMemory<std::vector<InitialRows>> initial;
    SourceLines lines;

    // Describes the network to reports; hand-written programs leave it empty.
    std::string model;
    std::uint32_t batch = 0;
    std::uint64_t inferences = 0;
    std::vector<LayerInfo> layers;          ///< tag t is layers[t - 1]
    std::vector<BorderTensor> inputs;       ///< one for each Input buffer, in which its elements lie packed
    std::vector<BorderTensor> outputs;      ///< one for each Output buffer, in which its elements lie packed
    std::vector<StateTensors> state;        ///< an input or output is in at most one
    std::vector<ResidentTensor> residents;  ///< an input or output is in at most one, and then in no state
    std::optional<ArrayFiles> arrays;       ///< absent: files have images, or it is not stated
    std::vector<HostOperation> host_operations;
    std::vector<HostSegment> host_segments;

    bool operator==(const Program&) const = default;
};

/// Bytes of a row of one of initial_memories.
constexpr std::uint64_t row_bytes(MemoryId memory, const Geometry& geometry) {
    if (memory == MemoryId::UnifiedBuffer) return geometry.rows;
    if (memory == MemoryId::Hbm) return std::uint64_t{geometry.tensor.lanes} * word_bytes;
    return std::uint64_t{geometry.columns} * sizeof(std::int32_t);
}

bool has_initial_rows(const Program& program);

/// The rows of the memory that the values take.
RowRange rows_of(const InitialRows& initial, MemoryId memory, const Geometry& geometry);

/// The inferences that the buffer of an input or output holds, by its number: all, or of state, a batch.
std::uint64_t inferences_of_input(const Program& program, std::size_t input);
std::uint64_t inferences_of_output(const Program& program, std::size_t output);

/// The host buffer of an input or output that stays in the chip's memory.
const HostBuffer& buffer_of(const ResidentTensor& resident, const Program& program);
/// Where the part of a core begins in host memory, in bytes.
std::uint64_t host_address(const ResidentTensor& resident, const Program& program, std::uint64_t core);

/// Whether the program has work for the host's processor between the chip's.
bool uses_host(const Program& program);

/// Whether an instruction sets multiply.weight_zero_point to another value than 0.
bool uses_weight_zero_points(const Program& program);

/// The line of an instruction in the text it was assembled from; 0 if there is none.
std::size_t line_of(const Program& program, std::size_t instruction);

/// The name of a tag in reports: the layer's name, "(outside layers)" for tag 0, "tag 7" if the program has
/// no name for it.
std::string layer_name(const Program& program, std::uint16_t tag);

/// Where each tile ends in weight memory, if the first begins at `address`.
std::vector<std::uint64_t> tile_ends(const Program& program, std::uint64_t address = 0);

/// By tile: whether an instruction writes it.
std::vector<bool> written_tiles(const Program& program);

/// Bytes of the tiles that a weight memory of `bytes` holds: as many as fit, from the first on.
inline std::uint64_t resident_bytes(const Program& program, std::uint64_t bytes) {
    std::uint64_t held = 0;
    for (const WeightTile& tile : program.tiles) {
        const std::uint64_t size = memory_bytes(tile, program.geometry);
        if (size > bytes - held) break;
        held += size;
    }
    return held;
}

}  // namespace systole::isa
