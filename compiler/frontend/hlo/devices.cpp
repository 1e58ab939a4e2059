#include "compiler/frontend/hlo/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

std::uint32_t device_of(std::int64_t number) {
    if (number < 0 || number >= most_devices) {
        throw ModelError(
            fmt::format("it names device {}; devices are from 0 to {}", number, most_devices - 1));
    }
    return static_cast<std::uint32_t>(number);
}

/// The numbers from 0 on, laid out by sizes and read in another order of the axes.
template <typename Sizes, typename Order>
std::vector<std::uint32_t> transposed_numbers(const Sizes& sizes, const Order& order) {
    const auto rank = static_cast<std::size_t>(sizes.size());
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    if (!order.empty()) {
        std::vector<std::int64_t> sorted(order.begin(), order.end());
        std::ranges::sort(sorted);
        if (!std::ranges::equal(sorted, axes, [](std::int64_t named, std::size_t axis) {
                return named >= 0 && static_cast<std::size_t>(named) == axis;
            })) {
            throw ModelError(fmt::format("iota_transpose_perm has {} numbers; it must name each of {} once",
                                         order.size(), counted(rank, "dimension")));
        }
        std::ranges::copy(order, axes.begin());
    }
    std::uint64_t count = 1;
    std::vector<std::uint64_t> strides(rank);
    for (std::size_t axis = rank; axis-- > 0;) {
        const std::int64_t size = sizes.Get(static_cast<int>(axis));
        if (size < 1 || size > most_devices || count > most_devices / static_cast<std::uint64_t>(size)) {
            throw ModelError(
                fmt::format("a size in iota_reshape_dims is {}; it must be at least 1, and all "
                            "together make {} devices at most",
                            size, most_devices));
        }
        strides[axis] = count;
        count *= static_cast<std::uint64_t>(size);
    }
    // Each axis repeats what those behind it give, once for each of its indices.
    std::vector<std::uint32_t> numbers{0};
    for (const std::uint64_t axis : axes) {
        if (sizes.Get(static_cast<int>(axis)) == 1) continue;
        std::vector<std::uint32_t> next;
        next.reserve(numbers.size() * static_cast<std::size_t>(sizes.Get(static_cast<int>(axis))));
        for (const std::uint32_t number : numbers) {
            for (std::int64_t i = 0; i < sizes.Get(static_cast<int>(axis)); ++i) {
                next.push_back(number +
                               static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * strides[axis]));
            }
        }
        numbers = std::move(next);
    }
    return numbers;
}

template <typename List>
Groups listed_groups(const List& list) {
    Groups groups;
    for (const hlo_proto::ReplicaGroup& group : list) {
        groups.emplace_back();
        for (const std::int64_t number : group.replica_ids()) groups.back().push_back(device_of(number));
    }
    return groups;
}

Groups counted_groups(const hlo_proto::IotaReplicaGroupListProto& list) {
    const auto numbers = transposed_numbers(list.iota_reshape_dims(), list.iota_transpose_perm());
    const std::int64_t count = list.num_replica_groups();
    const std::int64_t size = list.num_devices_per_group();
    if (count < 1 || size < 1 || count > most_devices || size > most_devices ||
        static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) != numbers.size()) {
        throw ModelError(fmt::format("it has {} groups of {} for {}; each device must be in one", count, size,
                                     counted(numbers.size(), "device")));
    }
    Groups groups;
    for (std::size_t begin = 0; begin < numbers.size(); begin += static_cast<std::size_t>(size)) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
        groups.emplace_back(first, first + size);
    }
    return groups;
}

void check_groups(const Groups& groups) {
    std::set<std::uint32_t> seen;
    for (const auto& group : groups) {
        if (group.size() != groups.front().size() || group.empty()) {
            throw ModelError(
                fmt::format("its groups are of {} and {} devices; they must have one size, at least 1",
                            groups.front().size(), group.size()));
        }
        for (const std::uint32_t device : group) {
            if (!seen.insert(device).second) {
                throw ModelError(fmt::format("device {} is in its groups twice; it must be in one", device));
            }
        }
    }
    if (!seen.empty() && *seen.rbegin() + 1 != seen.size()) {
        throw ModelError(
            fmt::format("its groups name {}, the last of which is {}; they must name all from 0 on",
                        counted(seen.size(), "device"), *seen.rbegin()));
    }
}

}  // namespace

void NamedDevices::add(std::span<const std::uint32_t> devices) {
    constexpr std::uint64_t most_named = std::uint64_t{1} << 24;
    named_ += devices.size();
    if (named_ > most_named) {
        throw ModelError(fmt::format("with it, the module names devices {} times; at most {} are supported",
                                     named_, most_named));
    }
    for (const std::uint32_t device : devices) count_ = std::max(count_, device + 1);
}

void NamedDevices::add(const Mesh& mesh) {
    std::uint32_t devices = 1;
    for (const MeshAxis& axis : mesh.axes) devices *= axis.size;
    count_ = std::max(count_, devices);
}

Groups read_groups(const hlo_proto::HloInstructionProto& instruction) {
    const auto& list = instruction.collective_device_list();
    Groups groups = listed_groups(instruction.replica_groups());
    Groups others = listed_groups(list.replica_groups());
    if (list.has_iota_replica_group_list()) {
        if (!others.empty()) {
            throw ModelError("its groups are given both as a list and by counts; they must be given once");
        }
        others = counted_groups(list.iota_replica_group_list());
    }
    if (!groups.empty() && !others.empty() && groups != others) {
        throw ModelError("replica_groups and collective_device_list differ; they must be the same");
    }
    if (groups.empty()) groups = std::move(others);
    check_groups(groups);
    return groups;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> read_pairs(
    const hlo_proto::HloInstructionProto& instruction) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::set<std::uint32_t> sources;
    std::set<std::uint32_t> targets;
    for (const hlo_proto::SourceTarget& pair : instruction.source_target_pairs()) {
        pairs.emplace_back(device_of(pair.source()), device_of(pair.target()));
        if (!sources.insert(pairs.back().first).second || !targets.insert(pairs.back().second).second) {
            throw ModelError(
                fmt::format("source_target_pairs sends from {} to {}; a device may send and receive once",
                            pairs.back().first, pairs.back().second));
        }
    }
    return pairs;
}

std::vector<std::uint32_t> read_devices(const hlo_proto::OpSharding& sharding) {
    if (sharding.iota_reshape_dims_size() != 0) {
        if (sharding.tile_assignment_devices_size() != 0) {
            throw ModelError(
                "the devices of its sharding are given both as a list and by counts; it must have one of "
                "them");
        }
        return transposed_numbers(sharding.iota_reshape_dims(), sharding.iota_transpose_perm());
    }
    if (sharding.iota_transpose_perm_size() != 0) {
        throw ModelError("its sharding has iota_transpose_perm without iota_reshape_dims; it needs both");
    }
    std::vector<std::uint32_t> devices;
    for (const std::int64_t number : sharding.tile_assignment_devices()) devices.push_back(device_of(number));
    return devices;
}

}  // namespace systole::hlo
