#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/hlo/hlo_proto.h"
#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// Numbers of devices are below it.
inline constexpr std::uint32_t most_devices = std::uint32_t{1} << 16;

/// The devices that a module names. Groups and shardings that are given by counts are longer than their text:
/// all of them together are bounded.
class NamedDevices {
public:
    /// Throws ModelError above the bound.
    void add(std::span<const std::uint32_t> devices);
    void add(const Mesh& mesh);
    /// One more than the largest number, at least 1.
    std::uint32_t count() const { return count_; }

private:
    std::uint64_t named_ = 0;
    std::uint32_t count_ = 1;
};

/// The groups of a collective, from either of the fields that may name them. Throws ModelError.
std::vector<std::vector<std::uint32_t>> read_groups(const hlo_proto::HloInstructionProto& instruction);

/// The pairs of source and target of a permutation. Throws ModelError.
std::vector<std::pair<std::uint32_t, std::uint32_t>> read_pairs(
    const hlo_proto::HloInstructionProto& instruction);

/// The devices of a sharding, tile by tile. Throws ModelError.
std::vector<std::uint32_t> read_devices(const hlo_proto::OpSharding& sharding);

/// The sharding of a value of this shape, whose devices are added to `devices`. The rules are those of XLA's
/// verifier. Throws ModelError if the sharding contradicts itself or the shape.
Sharding read_sharding(const hlo_proto::OpSharding& proto, ShapeId shape, const ShapeTable& shapes,
                       NamedDevices& devices);

/// The meshes in a text like {mesh = #sdy.mesh<["a"=4, "b"=2]>}. Throws ModelError for other texts.
std::vector<Mesh> read_meshes(std::string_view text);

/// The tiles of several arrays by a text like #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>. Throws
/// ModelError for other texts. The devices are added to `devices`.
std::vector<Sharding> read_shardy_shardings(std::string_view text, const std::vector<Mesh>& meshes,
                                            NamedDevices& devices);

}  // namespace systole::hlo
