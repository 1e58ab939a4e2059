// Shardings in the fields of instructions and modules.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/hlo/devices.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using Kind = Sharding::Kind;

Kind kind_of(std::int32_t number) {
    constexpr auto count = static_cast<std::int32_t>(sharding_kind_names.size());
    if (number < 0 || number >= count) {
        throw ModelError(
            fmt::format("its sharding is of type {}; types 0 to {} are supported", number, count - 1));
    }
    return static_cast<Kind>(number);
}

std::string_view name_of(Kind kind) {
    return sharding_kind_names.at(static_cast<std::size_t>(kind));
}

/// What the tiles behind the array's dimensions mean.
std::vector<Kind> last_tiles_of(const hlo_proto::OpSharding& proto) {
    if (proto.replicate_on_last_tile_dim() && proto.last_tile_dims_size() != 0) {
        throw ModelError(
            fmt::format("its sharding has replicate_on_last_tile_dim and {}; it may have one of them",
                        counted(static_cast<std::size_t>(proto.last_tile_dims_size()), "last_tile_dim")));
    }
    std::vector<Kind> kinds;
    if (proto.replicate_on_last_tile_dim()) kinds.push_back(Kind::Replicated);
    for (const std::int32_t number : proto.last_tile_dims()) {
        const Kind kind = kind_of(number);
        if (kind != Kind::Replicated && kind != Kind::Manual) {
            throw ModelError(
                fmt::format("one of last_tile_dims is {}; it must be replicated or manual", name_of(kind)));
        }
        kinds.push_back(kind);
    }
    return kinds;
}

void check_tiles(const Sharding& sharding, ShapeId shape, const ShapeTable& shapes) {
    const std::size_t last = sharding.last_tiles.size();
    if (sharding.tiles.size() != shapes[shape].rank() + last) {
        throw ModelError(fmt::format("its sharding has tiles along {}; {} needs {}, and {} for last tiles",
                                     counted(sharding.tiles.size(), "dimension"), shapes.text_of(shape),
                                     shapes[shape].rank(), last));
    }
    std::uint64_t tiles = 1;
    for (const std::int64_t count : sharding.tiles) {
        if (count < 1) {
            throw ModelError(fmt::format("a count of its sharding is {}; it must be at least 1", count));
        }
        tiles *= static_cast<std::uint64_t>(std::min<std::int64_t>(count, most_devices + 1));
        if (tiles > most_devices) break;
    }
    if (tiles != sharding.devices.size()) {
        throw ModelError(fmt::format("its sharding has {} tiles for {}; each device must have one",
                                     tiles > most_devices ? "too many" : fmt::format("{}", tiles),
                                     counted(sharding.devices.size(), "device")));
    }
    std::vector<std::uint32_t> sorted = sharding.devices;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] == i) continue;
        throw ModelError(
            sorted[i] < i
                ? fmt::format("its sharding names device {} twice; each may be named once", sorted[i])
                : fmt::format("its sharding leaves out device {}; it must name all below {}", i,
                              sorted.back() + 1));
    }
}

Sharding read_array_sharding(const hlo_proto::OpSharding& proto, ShapeId shape, const ShapeTable& shapes) {
    Sharding sharding{
        .kind = kind_of(proto.type()),
        .tiles = {proto.tile_assignment_dimensions().begin(), proto.tile_assignment_dimensions().end()},
        .devices = read_devices(proto),
        .last_tiles = last_tiles_of(proto)};
    if (sharding.kind == Kind::Tuple || proto.tuple_shardings_size() != 0) {
        throw ModelError(fmt::format(
            "its sharding is {} with {}; that of {} must be of an array, without parts",
            name_of(sharding.kind), counted(static_cast<std::size_t>(proto.tuple_shardings_size()), "part"),
            shapes.text_of(shape)));
    }
    if (sharding.kind == Kind::Tiled) {
        check_tiles(sharding, shape, shapes);
        return sharding;
    }
    if (sharding.kind == Kind::OneDevice) {
        // Some writers state that there is one tile.
        if (std::ranges::all_of(sharding.tiles, [](std::int64_t count) { return count == 1; })) {
            sharding.tiles.clear();
        }
        if (sharding.devices.size() != 1) {
            throw ModelError(fmt::format("its sharding is one_device with {}; it must name 1",
                                         counted(sharding.devices.size(), "device")));
        }
    } else if (!sharding.devices.empty()) {
        throw ModelError(fmt::format("its sharding is {} with {}; it must name none", name_of(sharding.kind),
                                     counted(sharding.devices.size(), "device")));
    }
    if (!sharding.tiles.empty() || !sharding.last_tiles.empty()) {
        throw ModelError(
            fmt::format("its sharding is {} with tiles along {} and {}; only tiled ones have them",
                        name_of(sharding.kind), counted(sharding.tiles.size(), "dimension"),
                        counted(sharding.last_tiles.size(), "last tile")));
    }
    return sharding;
}

/// The arrays in a shape, in the order of their shardings. How deep tuples are has been bounded.
void append_arrays(ShapeId shape, const ShapeTable& shapes, std::vector<ShapeId>& arrays) {
    if (!shapes[shape].is_tuple) return arrays.push_back(shape);
    for (const ShapeId part : shapes[shape].parts) append_arrays(part, shapes, arrays);
}

}  // namespace

Sharding read_sharding(const hlo_proto::OpSharding& proto, ShapeId shape, const ShapeTable& shapes,
                       NamedDevices& devices) {
    if (!shapes[shape].is_tuple) {
        Sharding sharding = read_array_sharding(proto, shape, shapes);
        devices.add(sharding.devices);
        return sharding;
    }
    if (kind_of(proto.type()) != Kind::Tuple) {
        throw ModelError(fmt::format("its sharding is {}; that of {} must be a tuple",
                                     name_of(kind_of(proto.type())), shapes.text_of(shape)));
    }
    if (proto.tile_assignment_dimensions_size() != 0 || proto.tile_assignment_devices_size() != 0 ||
        proto.iota_reshape_dims_size() != 0 || proto.last_tile_dims_size() != 0 ||
        proto.replicate_on_last_tile_dim()) {
        throw ModelError("its sharding is a tuple with tiles or devices; only its parts may have them");
    }
    std::vector<ShapeId> arrays;
    append_arrays(shape, shapes, arrays);
    // A tuple without arrays may have the sharding of one.
    const bool has_nothing = arrays.empty() && proto.tuple_shardings_size() == 1;
    if (has_nothing) arrays.push_back(shape);
    if (arrays.size() != static_cast<std::size_t>(proto.tuple_shardings_size())) {
        throw ModelError(fmt::format("its sharding has {}; {} has {}, and each must have one",
                                     counted(static_cast<std::size_t>(proto.tuple_shardings_size()), "part"),
                                     shapes.text_of(shape), counted(arrays.size(), "array")));
    }
    Sharding sharding{.kind = Kind::Tuple};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        try {
            sharding.parts.push_back(
                read_array_sharding(proto.tuple_shardings(static_cast<int>(i)), arrays[i], shapes));
            devices.add(sharding.parts.back().devices);
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("part {} of its sharding: {}", i, error.what()));
        }
    }
    if (has_nothing) sharding.parts.clear();
    return sharding;
}

}  // namespace systole::hlo
