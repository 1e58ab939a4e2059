#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/conversion.h"
#include "base/input_file.h"
#include "hw/isa/encoding.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_file.h"
#include "hw/isa/program_file/byte_reader.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

/// The content of a file, behind its header.
struct Content {
    ByteReader bytes;
    std::uint32_t version = 0;
};

/// Checks magic, version, length and checksum.
Content open_content(std::span<const std::uint8_t> file) {
    ByteReader header(file, 0, file.size());
    if (!std::ranges::equal(header.bytes(file_format::magic.size(), "magic"), file_format::magic)) {
        ByteReader::fail_at(0, "not a program file: the first 8 bytes are not those of one");
    }
    const std::size_t version_at = header.position();
    const std::uint32_t version = header.number32("version");
    if (version < file_format::version || version > file_format::newest_version) {
        ByteReader::fail_at(version_at,
                            fmt::format("version is {}; this program reads versions {} to {}", version,
                                        file_format::version, file_format::newest_version));
    }
    const std::size_t sum_at = header.position();
    const std::uint32_t written_sum = header.number32("CRC-32");
    const std::size_t length_at = header.position();
    const std::uint64_t length = header.number64("length");
    if (length != header.remaining()) {
        ByteReader::fail_at(length_at, fmt::format("the content is {} bytes; the header says {}",
                                                   header.remaining(), length));
    }
    const auto content = file.subspan(file_format::header_bytes);
    const auto sum = static_cast<std::uint32_t>(crc32_z(0, content.data(), content.size()));
    if (sum != written_sum) {
        ByteReader::fail_at(sum_at, fmt::format("CRC-32 of the content is {:#010x}; the header says {:#010x}",
                                                sum, written_sum));
    }
    return {.bytes = header, .version = version};
}

ByteReader open_section(std::span<const std::uint8_t> file, ByteReader& content,
                        const file_format::Tag& tag) {
    const std::string_view wanted(tag.data(), tag.size());
    const std::size_t begin = content.position();
    if (!std::ranges::equal(content.bytes(tag.size(), wanted), tag)) {
        ByteReader::fail_at(begin, fmt::format("section {} must begin here", wanted));
    }
    const std::uint64_t length = content.number64(wanted);
    const std::size_t first = content.position();
    content.bytes(length, wanted);
    return {file, first, content.position()};
}

std::vector<std::uint8_t> copy(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}

/// Reads `count` items with `read_one`.
template <class Each, class ReadOne>
std::vector<Each> list(ByteReader& reader, std::size_t smallest, std::string_view what, ReadOne read_one) {
    const std::size_t count = reader.count(smallest, what);
    std::vector<Each> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) all.push_back(read_one(reader));
    return all;
}

LayerInfo read_layer(ByteReader& reader) {
    LayerInfo layer;
    layer.name = reader.string("layer name");
    layer.kind = reader.string("layer kind");
    layer.macs = reader.number64("layer macs");
    return layer;
}

DataType read_element_type(ByteReader& reader) {
    constexpr auto last = static_cast<std::uint8_t>(data_type_count - 1);
    const std::size_t begin = reader.position();
    const std::uint8_t type = reader.number8("tensor type");
    if (type > last)
        ByteReader::fail_at(begin, fmt::format("tensor type is {}; it must be at most {}", type, last));
    return static_cast<DataType>(type);
}

BorderTensor read_tensor(ByteReader& reader) {
    BorderTensor tensor;
    tensor.name = reader.string("tensor name");
    tensor.shape = list<std::uint32_t>(reader, 4, "sizes of a shape",
                                       [](ByteReader& sizes) { return sizes.number32("size of a shape"); });
    tensor.scale = reader.real("tensor scale");
    tensor.zero_point = static_cast<std::int32_t>(reader.number32("tensor zero point"));
    tensor.type = read_element_type(reader);
    return tensor;
}

HostOperation read_host_operation(ByteReader& reader) {
    HostOperation operation;
    operation.kind = reader.string("host operation");
    operation.layer = reader.string("layer of a host operation");
    return operation;
}

HostBuffer read_buffer(ByteReader& reader) {
    HostBuffer buffer;
    buffer.name = reader.string("host buffer name");
    const std::size_t kind_at = reader.position();
    const std::uint8_t kind = reader.number8("host buffer kind");
    if (kind >= buffer_kind_names().size()) {
        ByteReader::fail_at(kind_at, fmt::format("host buffer kind is {}; it must be below {}", kind,
                                                 buffer_kind_names().size()));
    }
    buffer.kind = static_cast<BufferKind>(kind);
    buffer.address = reader.number64("host buffer address");
    buffer.bytes = reader.number64("host buffer bytes");
    if (buffer.kind == BufferKind::Constant) {
        buffer.contents = copy(reader.bytes(buffer.bytes, "contents of a host buffer"));
    }
    return buffer;
}

/// Reads a format of weights, which the file stores as its number of bytes.
DataType read_weight_type(ByteReader& reader) {
    const std::size_t begin = reader.position();
    const std::uint8_t bytes = reader.number8("tile bytes");
    for (const DataType type : {DataType::Int8, DataType::Int16}) {
        if (bytes_of(type) == bytes) return type;
    }
    ByteReader::fail_at(begin, fmt::format("tile bytes is {}; it must be 1 or 2", bytes));
}

WeightTile read_tile(ByteReader& reader) {
    const std::size_t begin = reader.position();
    WeightTile tile;
    tile.rows = reader.number32("tile rows");
    tile.columns = reader.number32("tile columns");
    tile.type = read_weight_type(reader);
    tile.useful_macs = reader.number32("tile useful MACs");
    if (std::max(tile.rows, tile.columns) > largest_array_side) {
        ByteReader::fail_at(begin, fmt::format("a tile of {} x {}; each must be at most {}", tile.rows,
                                               tile.columns, largest_array_side));
    }
    tile.values =
        copy(reader.bytes(std::uint64_t{tile.rows} * tile.columns * bytes_of(tile.type), "values of a tile"));
    return tile;
}

std::vector<Instruction> read_code(std::span<const std::uint8_t> file, ByteReader& reader) {
    const std::size_t count = reader.count(1, "instructions");
    const auto up_to_end = file.first(reader.position() + reader.remaining());
    std::size_t offset = reader.position();
    std::vector<Instruction> instructions;
    instructions.reserve(count);
    for (std::size_t i = 0; i < count; ++i) instructions.push_back(decode(up_to_end, offset));
    reader.bytes(offset - reader.position(), "instructions");
    return instructions;
}

InitialRows read_initial_rows(ByteReader& reader) {
    InitialRows initial;
    initial.first_row = reader.number32("first initial row");
    initial.values = copy(reader.bytes(reader.number64("bytes of initial rows"), "values of initial rows"));
    return initial;
}

SegmentTensor read_segment_tensor(ByteReader& reader) {
    SegmentTensor tensor;
    tensor.buffer = reader.number32("buffer of a host segment");
    tensor.bytes = reader.number64("bytes of a host segment's tensor");
    return tensor;
}

HostSegment read_host_segment(ByteReader& reader) {
    constexpr std::size_t smallest_tensor = 12;
    HostSegment segment;
    segment.name = reader.string("name of a host segment");
    segment.layers = list<std::string>(reader, 4, "layers of a host segment", [](ByteReader& each) {
        return each.string("layer of a host segment");
    });
    segment.operations = reader.number64("operations of a host segment");
    segment.bytes = reader.number64("bytes of a host segment");
    segment.constant_bytes = reader.number64("constant bytes of a host segment");
    segment.reads = list<SegmentTensor>(reader, smallest_tensor, "tensors that a host segment reads",
                                        read_segment_tensor);
    segment.writes = list<SegmentTensor>(reader, smallest_tensor, "tensors that a host segment writes",
                                         read_segment_tensor);
    segment.graph = reader.string("graph of a host segment");
    return segment;
}

void read_host_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    constexpr std::size_t smallest = 44;
    ByteReader host = open_section(file, content, file_format::host_section);
    program.host_segments = list<HostSegment>(host, smallest, "host segments", read_host_segment);
    host.finish("the section of host segments");
}

std::vector<InitialRows> read_all_initial_rows(ByteReader& reader) {
    constexpr std::size_t smallest = 12;
    return list<InitialRows>(reader, smallest, "initial rows", read_initial_rows);
}

void read_rows_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    ByteReader rows = open_section(file, content, file_format::rows_section);
    for (const MemoryId memory : file_format::rows_section_memories) {
        program.initial[memory] = read_all_initial_rows(rows);
    }
    rows.finish("the section of initial rows");
}

void read_block_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    ByteReader blocks = open_section(file, content, file_format::block_section);
    const std::size_t begin = blocks.position();
    const std::size_t count = blocks.count(4, "blocks");
    if (count != program.tiles.size()) {
        ByteReader::fail_at(begin,
                            fmt::format("blocks of {} tiles; there are {}", count, program.tiles.size()));
    }
    for (WeightTile& tile : program.tiles) {
        tile.block_macs = list<std::uint32_t>(blocks, 4, "pixels of a block", [](ByteReader& each) {
            return each.number32("MACs of a block's pixel");
        });
    }
    blocks.finish("the section of blocks");
}

void read_host_macs_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    ByteReader macs = open_section(file, content, file_format::host_macs_section);
    const std::size_t begin = macs.position();
    const std::size_t count = macs.count(4, "MACs");
    if (count != program.host_segments.size()) {
        ByteReader::fail_at(begin, fmt::format("MACs of {} host segments; there are {}", count,
                                               program.host_segments.size()));
    }
    for (HostSegment& segment : program.host_segments) {
        segment.macs = list<std::uint64_t>(macs, 8, "MACs of a host segment", [](ByteReader& each) {
            return each.number64("MACs of a host segment's layer");
        });
    }
    macs.finish("the section of the host's MACs");
}

Conversion read_conversion(ByteReader& reader) {
    constexpr auto last = static_cast<std::uint8_t>(conversion_count - 1);
    const std::size_t begin = reader.position();
    const std::uint8_t conversion = reader.number8("conversion");
    if (conversion > last) {
        ByteReader::fail_at(begin, fmt::format("conversion is {}; it must be at most {}", conversion, last));
    }
    return static_cast<Conversion>(conversion);
}

void read_conversion_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    ByteReader conversions = open_section(file, content, file_format::conversion_section);
    const std::size_t begin = conversions.position();
    const std::size_t count = conversions.count(1, "conversions");
    if (count != program.inputs.size()) {
        ByteReader::fail_at(
            begin, fmt::format("conversions of {} inputs; there are {}", count, program.inputs.size()));
    }
    for (BorderTensor& input : program.inputs) input.conversion = read_conversion(conversions);
    conversions.finish("the section of conversions");
}

void read_grid_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    ByteReader grid = open_section(file, content, file_format::grid_section);
    TileGrid& tiles = program.geometry.tiles;
    tiles.lines = grid.number32("lines of tiles");
    tiles.columns = grid.number32("columns of tiles");
    tiles.lanes = grid.number32("lanes");
    tiles.units = grid.number32("units of wide memory");
    grid.finish("the section of the tiles");
}

bool read_bit(ByteReader& reader, std::string_view what) {
    const std::size_t begin = reader.position();
    const std::uint8_t bit = reader.number8(what);
    if (bit > 1) ByteReader::fail_at(begin, fmt::format("{} is {}; it must be 0 or 1", what, bit));
    return bit == 1;
}

/// A number below `limit`.
std::uint8_t read_code8(ByteReader& reader, std::string_view what, std::size_t limit) {
    const std::size_t begin = reader.position();
    const std::uint8_t number = reader.number8(what);
    if (number >= limit)
        ByteReader::fail_at(begin, fmt::format("{} is {}; it must be below {}", what, number, limit));
    return number;
}

ChainSource read_chain_source(ByteReader& reader) {
    ChainSource source;
    source.spread = static_cast<Spread>(read_code8(reader, "spread of a source", spread_names().size()));
    source.packed = read_bit(reader, "packed of a source");
    return source;
}

ChainStep read_chain_step(ByteReader& reader) {
    ChainStep step;
    step.operation =
        static_cast<WordOperation>(read_code8(reader, "operation of a step", word_operation_count));
    for (std::size_t i = 0; i < traits_of(step.operation).operands; ++i) {
        step.operands.push_back(reader.number8("operand of a step"));
    }
    if (step.operation == WordOperation::Constant) step.constant = reader.number32("constant of a step");
    return step;
}

ChainResult read_chain_result(ByteReader& reader) {
    ChainResult result;
    result.value = reader.number8("value of a result");
    result.packed = read_bit(reader, "packed of a result");
    return result;
}

Chain read_chain(ByteReader& reader) {
    Chain chain;
    chain.name = reader.string("name of a chain");
    chain.sources = list<ChainSource>(reader, 2, "sources of a chain", read_chain_source);
    chain.steps = list<ChainStep>(reader, 1, "steps of a chain", read_chain_step);
    chain.results = list<ChainResult>(reader, 2, "results of a chain", read_chain_result);
    return chain;
}

void read_core_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    constexpr std::size_t smallest = 16;
    ByteReader core = open_section(file, content, file_format::core_section);
    program.geometry.tensor.lanes = core.number32("lanes");
    program.geometry.tensor.cores = core.number32("cores");
    program.chains = list<Chain>(core, smallest, "chains", read_chain);
    program.initial[MemoryId::Hbm] = read_all_initial_rows(core);
    for (HostBuffer& buffer : program.buffers) buffer.padding = core.number64("padding of a host buffer");
    core.finish("the section of the tensor core");
}

StateTensors read_state(ByteReader& reader) {
    StateTensors state;
    state.input = reader.number32("input of a state");
    state.output = reader.number32("output of a state");
    return state;
}

void read_state_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    constexpr std::size_t size = 8;
    ByteReader state = open_section(file, content, file_format::state_section);
    program.state = list<StateTensors>(state, size, "states", read_state);
    state.finish("the section of state");
}

void read_split_axes(ByteReader& reader, std::vector<BorderTensor>& tensors) {
    for (BorderTensor& tensor : tensors) {
        const std::uint32_t axis = reader.number32("axis along which an array is split");
        if (axis > 0) tensor.split_axis = axis - 1;
    }
}

ConstantOutput read_constant_output(ByteReader& reader) {
    ConstantOutput constant;
    constant.place = reader.number32("place of a constant output");
    constant.tensor = read_tensor(reader);
    constant.words =
        copy(reader.bytes(reader.number64("bytes of a constant output"), "words of a constant output"));
    return constant;
}

ResidentTensor read_resident(ByteReader& reader) {
    ResidentTensor resident;
    const std::size_t begin = reader.position();
    const std::uint8_t side = reader.number8("side of a tensor that stays in memory");
    if (side > 1) ByteReader::fail_at(begin, fmt::format("the side is {}; it must be 0 or 1", side));
    resident.side = static_cast<ResidentSide>(side);
    resident.number = reader.number32("number of a tensor that stays in memory");
    resident.inferences = reader.number32("its inferences");
    resident.first_row = reader.number32("its first row");
    resident.inference_rows = reader.number32("its rows from an inference to the next");
    resident.panel_rows = reader.number32("its rows from a panel to the next");
    resident.columns = reader.number32("its columns");
    constexpr std::size_t axis_bytes = 8;
    resident.axes =
        list<RowAxis>(reader, axis_bytes, "axes of a tensor that stays in memory", [](ByteReader& axis) {
            RowAxis read;
            read.extent = axis.number32("rows of an axis");
            read.apart = axis.number32("rows from an index to the next");
            return read;
        });
    return resident;
}

void read_resident_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program) {
    constexpr std::size_t smallest = 29;
    ByteReader reader = open_section(file, content, file_format::resident_section);
    program.residents = list<ResidentTensor>(reader, smallest, "tensors that stay in memory", read_resident);
    reader.finish("the section of tensors that stay in memory");
}

/// `is_optional`: there may be no arrays.
void read_arrays_section(std::span<const std::uint8_t> file, ByteReader& content, Program& program,
                         bool is_optional) {
    constexpr std::size_t smallest = 33;
    ByteReader reader = open_section(file, content, file_format::arrays_section);
    const std::uint32_t replicas = reader.number32("replicas");
    if (is_optional && replicas == 0) return reader.finish("the section of arrays");
    ArrayFiles& arrays = program.arrays.emplace();
    arrays.replicas = replicas;
    read_split_axes(reader, program.inputs);
    read_split_axes(reader, program.outputs);
    arrays.constants = list<ConstantOutput>(reader, smallest, "constant outputs", read_constant_output);
    reader.finish("the section of arrays");
}

/// Each program has one file: of the lowest version that can hold it.
void check_version(std::uint32_t version, const Program& program) {
    const std::uint32_t needed = file_format::version_of(program);
    if (needed == version) return;
    ByteReader::fail_at(
        file_format::magic.size(),
        fmt::format("version is {}; a file of this program must be of version {}", version, needed));
}

Program read_content(std::span<const std::uint8_t> file) {
    auto [content, version] = open_content(file);
    Program program;

    ByteReader array = open_section(file, content, file_format::array_section);
    program.geometry.rows = array.number32("array rows");
    program.geometry.columns = array.number32("array columns");
    array.finish("the array section");

    ByteReader network = open_section(file, content, file_format::network_section);
    program.model = network.string("model name");
    program.batch = network.number32("batch");
    program.inferences = network.number64("inferences");
    program.inputs = list<BorderTensor>(network, 21, "inputs", read_tensor);
    program.outputs = list<BorderTensor>(network, 21, "outputs", read_tensor);
    program.host_operations = list<HostOperation>(network, 8, "host operations", read_host_operation);
    program.layers = list<LayerInfo>(network, 16, "layers", read_layer);
    network.finish("the network section");

    ByteReader buffers = open_section(file, content, file_format::buffer_section);
    program.buffers = list<HostBuffer>(buffers, 21, "host buffers", read_buffer);
    buffers.finish("the host buffer section");

    ByteReader tiles = open_section(file, content, file_format::tile_section);
    program.tiles = list<WeightTile>(tiles, 13, "tiles", read_tile);
    tiles.finish("the tile section");

    ByteReader code = open_section(file, content, file_format::code_section);
    program.instructions = read_code(file, code);
    code.finish("the code section");

    if (version >= file_format::version_with_rows) read_rows_section(file, content, program);
    if (version >= file_format::version_with_host) read_host_section(file, content, program);
    if (version >= file_format::version_with_blocks) read_block_section(file, content, program);
    if (version >= file_format::version_with_host_macs) read_host_macs_section(file, content, program);
    if (version >= file_format::version_with_conversions) read_conversion_section(file, content, program);
    if (version == file_format::version_with_tiles) read_grid_section(file, content, program);
    if (version >= file_format::version_with_tensor_core) read_core_section(file, content, program);
    if (version >= file_format::version_with_state) read_state_section(file, content, program);
    if (version >= file_format::version_with_arrays)
        read_arrays_section(file, content, program, version >= file_format::version_with_residents);
    if (version >= file_format::version_with_residents) read_resident_section(file, content, program);
    content.finish("the file");
    check_version(version, program);
    validate(program);
    return program;
}

}  // namespace

Program read_program(std::span<const std::uint8_t> file, std::string_view name) {
    try {
        return read_content(file);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", name, error.what()));
    }
}

Program read_program(const std::filesystem::path& path) {
    return read_program(read_input_file<ProgramError, std::vector<std::uint8_t>>(path), path.string());
}

}  // namespace systole::isa
