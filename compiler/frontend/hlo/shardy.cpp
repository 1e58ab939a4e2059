// Meshes and shardings in the words of Shardy, which are texts in the program's frontend attributes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/hlo/devices.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

/// Takes a text apart, from its beginning to its end.
class ShardyText {
public:
    /// What the text is, and an example, stand in messages.
    ShardyText(std::string_view what, std::string_view text, std::string_view example)
        : what_(what), text_(text), rest_(text), example_(example) {}

    bool has(std::string_view token) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return rest_.starts_with(token);
    }
    bool takes(std::string_view token) {
        if (!has(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void take(std::string_view token) {
        if (!takes(token)) fail();
    }
    /// What stands before the next one of these characters.
    std::string take_until(std::string_view ends) {
        const std::size_t end = rest_.find_first_of(ends);
        if (end == std::string_view::npos || end == 0) fail();
        std::string taken(rest_.substr(0, end));
        rest_.remove_prefix(end);
        return taken;
    }
    std::string take_quoted() {
        take("\"");
        std::string taken = take_until("\"");
        take("\"");
        return taken;
    }
    std::uint32_t take_size() {
        std::uint32_t size = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
        if (error != std::errc() || size == 0 || size > most_devices) fail();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return size;
    }
    void take_end() {
        if (!has("") || !rest_.empty()) fail();
    }
    [[noreturn]] void fail() const {
        throw ModelError(fmt::format("{} {}; it must be like {}", what_, in_quotes(text_), example_));
    }

private:
    std::string_view what_;
    std::string_view text_;
    std::string_view rest_;
    std::string_view example_;
};

/// Elements in brackets, with commas between them.
template <typename Element>
void take_list(ShardyText& text, std::string_view begin, std::string_view end, const Element& take_element) {
    text.take(begin);
    if (text.takes(end)) return;
    do take_element();
    while (text.takes(","));
    text.take(end);
}

/// The tiles of an array whose dimensions are divided by axes of a mesh: devices are numbered row-major.
Sharding tiles_of(const Mesh& mesh, const std::vector<std::vector<std::string>>& dimensions,
                  const ShardyText& text) {
    std::vector<bool> is_used(mesh.axes.size(), false);
    std::vector<std::uint32_t> devices{0};
    const auto divide = [&](std::size_t axis) {
        is_used[axis] = true;
        std::uint32_t stride = 1;
        for (std::size_t i = axis + 1; i < mesh.axes.size(); ++i) stride *= mesh.axes[i].size;
        std::vector<std::uint32_t> divided;
        for (const std::uint32_t device : devices) {
            for (std::uint32_t i = 0; i < mesh.axes[axis].size; ++i) divided.push_back(device + i * stride);
        }
        devices = std::move(divided);
    };
    Sharding sharding{.kind = Sharding::Kind::Tiled};
    for (const std::vector<std::string>& names : dimensions) {
        const std::size_t before = devices.size();
        for (const std::string& name : names) {
            const auto found = std::ranges::find(mesh.axes, name, &MeshAxis::name);
            const auto axis = static_cast<std::size_t>(found - mesh.axes.begin());
            if (found == mesh.axes.end() || is_used[axis]) text.fail();
            divide(axis);
        }
        sharding.tiles.push_back(static_cast<std::int64_t>(devices.size() / before));
    }
    // Devices along the other axes have the same parts.
    const std::size_t parts = devices.size();
    for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
        if (!is_used[axis]) divide(axis);
    }
    if (devices.size() != parts) {
        sharding.tiles.push_back(static_cast<std::int64_t>(devices.size() / parts));
        sharding.last_tiles.push_back(Sharding::Kind::Replicated);
    }
    sharding.devices = std::move(devices);
    return sharding;
}

}  // namespace

std::vector<Mesh> read_meshes(std::string_view text) {
    ShardyText rest("it is", text, R"({mesh = #sdy.mesh<["a"=4, "b"=2]>})");
    std::vector<Mesh> meshes;
    take_list(rest, "{", "}", [&] {
        static_cast<void>(rest.has(""));
        Mesh mesh{.name = rest.take_until(" =")};
        rest.take("=");
        rest.take("#sdy.mesh<");
        std::uint32_t devices = 1;
        take_list(rest, "[", "]", [&] {
            MeshAxis axis{.name = rest.take_quoted()};
            rest.take("=");
            axis.size = rest.take_size();
            if (devices > most_devices / axis.size) rest.fail();
            devices *= axis.size;
            mesh.axes.push_back(std::move(axis));
        });
        rest.take(">");
        meshes.push_back(std::move(mesh));
    });
    rest.take_end();
    return meshes;
}

std::vector<Sharding> read_shardy_shardings(std::string_view text, const std::vector<Mesh>& meshes,
                                            NamedDevices& devices) {
    ShardyText rest("its sharding is", text,
                    R"(#sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>, with axes of its mesh)");
    std::vector<Sharding> shardings;
    rest.take("#sdy.sharding_per_value<");
    take_list(rest, "[", "]", [&] {
        rest.take("<@");
        const auto mesh = std::ranges::find(meshes, rest.take_until(", "), &Mesh::name);
        if (mesh == meshes.end()) rest.fail();
        rest.take(",");
        std::vector<std::vector<std::string>> dimensions;
        take_list(rest, "[", "]", [&] {
            std::vector<std::string>& names = dimensions.emplace_back();
            take_list(rest, "{", "}", [&] { names.push_back(rest.take_quoted()); });
        });
        // Axes along which all have the same part may be named.
        if (rest.takes(",")) {
            rest.take("replicated=");
            take_list(rest, "{", "}", [&] { static_cast<void>(rest.take_quoted()); });
        }
        rest.take(">");
        shardings.push_back(tiles_of(*mesh, dimensions, rest));
        devices.add(shardings.back().devices);
    });
    rest.take(">");
    rest.take_end();
    return shardings;
}

}  // namespace systole::hlo
