// Instructions of HLO that move elements or take computed places, as graphs of words, against plain loops.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

namespace systole::tests {
namespace {

using Catch::Matchers::EndsWith;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    /// From `low` to `high`.
    std::int64_t number(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool is(std::int64_t one_of) { return number(1, one_of) == 1; }
    /// A place from `low` to `high`, and at times one as far away as 32 bits allow.
    std::int64_t place(std::int64_t low, std::int64_t high) {
        constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        if (!is(8)) return number(low, high);
        return is(2) ? number(least, least + 5) : number(most - 5, most);
    }
    Extents extents(std::int64_t rank, std::int64_t most) {
        Extents drawn;
        for (std::int64_t i = 0; i < rank; ++i) drawn.push_back(number(1, most));
        return drawn;
    }
    Plain array(const Extents& dimensions) {
        return plain(dimensions, [&](const Extents&) { return static_cast<std::uint32_t>(random_()); });
    }
    /// Whole float32 below 2^8: each is a bfloat16, too, and their differences are exact.
    Plain floats(const Extents& dimensions) {
        return plain(dimensions, [&](const Extents&) {
            return words_of({static_cast<float>(number(-255, 255))}).front();
        });
    }
    Extents order(std::size_t count) {
        Extents axes(count);
        for (std::size_t i = 0; i < count; ++i) axes[i] = static_cast<std::int64_t>(i);
        std::ranges::shuffle(axes, random_);
        return axes;
    }

private:
    std::mt19937_64 random_;
};

void add_dimensions(HloComputation& entry, const Extents& axes) {
    for (const std::int64_t axis : axes) entry.last().add_dimensions(axis);
}

struct PadSide {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t interior = 0;
};

Plain padded(const Plain& array, const std::vector<PadSide>& sides, std::uint32_t word) {
    Extents dimensions;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
        const std::int64_t extent = array.dimensions[axis];
        dimensions.push_back(extent + (extent - 1) * sides[axis].interior + sides[axis].low +
                             sides[axis].high);
    }
    return plain(dimensions, [&](const Extents& index) {
        Extents from;
        for (std::size_t axis = 0; axis < sides.size(); ++axis) {
            const std::int64_t place = index[axis] - sides[axis].low;
            const std::int64_t step = sides[axis].interior + 1;
            if (place < 0 || place % step != 0 || place / step >= array.dimensions[axis]) return word;
            from.push_back(place / step);
        }
        return array.at(from);
    });
}

void set_padding(HloComputation& entry, const std::vector<PadSide>& sides) {
    for (const PadSide& side : sides) {
        auto& dimension = *entry.last().mutable_padding_config()->add_dimensions();
        dimension.set_edge_padding_low(side.low);
        dimension.set_edge_padding_high(side.high);
        dimension.set_interior_padding(side.interior);
    }
}

std::vector<PadSide> drawn_padding(Draw& draw, const Extents& dimensions) {
    std::vector<PadSide> sides;
    for (const std::int64_t extent : dimensions) {
        PadSide side{draw.number(-1, 2), draw.number(-1, 2), draw.is(3) ? draw.number(1, 2) : 0};
        if (extent + (extent - 1) * side.interior + side.low + side.high < 1) side = {};
        sides.push_back(side);
    }
    return sides;
}

/// A program that is made step by step, with what its arrays must be.
struct Moved {
    HloComputation& entry;
    std::string type{};
    std::int64_t id = 0;
    Plain array{};

    void append(const std::string& opcode, Plain result, const Ids& more = {}) {
        Ids operands{id};
        operands.insert(operands.end(), more.begin(), more.end());
        id = entry.add(opcode, shape_text(type, result.dimensions), operands);
        array = std::move(result);
    }

    std::uint32_t word_of(std::int64_t number) const {
        return type == "f32" ? words_of({static_cast<float>(number)}).front()
                             : static_cast<std::uint32_t>(number);
    }

    void move(Draw& draw) {
        const std::size_t rank = array.dimensions.size();
        switch (draw.number(0, 7)) {
            case 0: {
                const Extents axes = draw.order(rank);
                Extents dimensions;
                for (const std::int64_t axis : axes)
                    dimensions.push_back(array.dimensions[static_cast<std::size_t>(axis)]);
                Plain result = plain(dimensions, [&](const Extents& index) {
                    Extents from(rank);
                    for (std::size_t i = 0; i < rank; ++i) from[static_cast<std::size_t>(axes[i])] = index[i];
                    return array.at(from);
                });
                append("transpose", std::move(result));
                return add_dimensions(entry, axes);
            }
            case 1: {
                // Another division of the elements into axes.
                Extents dimensions;
                auto rest = static_cast<std::int64_t>(array.words.size());
                for (const std::int64_t factor : {2, 3, 2, 5, 3}) {
                    if (dimensions.size() < 3 && rest % factor == 0 && draw.is(2)) {
                        dimensions.push_back(factor);
                        rest /= factor;
                    } else if (dimensions.size() < 3 && draw.is(4)) {
                        dimensions.push_back(1);
                    }
                }
                dimensions.push_back(rest);
                return append("reshape", {.dimensions = dimensions, .words = array.words});
            }
            case 2: {
                // One more axis, or one less of size 1.
                Extents dimensions = array.dimensions;
                const auto one = std::ranges::find(dimensions, 1);
                if (one != dimensions.end() && draw.is(2)) {
                    dimensions.erase(one);
                } else if (rank < 4) {
                    dimensions.insert(dimensions.begin() + draw.number(0, static_cast<std::int64_t>(rank)),
                                      1);
                }
                return append("reshape", {.dimensions = dimensions, .words = array.words});
            }
            case 3: {
                std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // start, stride
                Extents limits;
                Extents dimensions;
                for (const std::int64_t extent : array.dimensions) {
                    const std::int64_t start = draw.number(0, extent - 1);
                    const std::int64_t limit = draw.number(start + 1, extent);
                    const std::int64_t stride = draw.number(1, 2);
                    taken.emplace_back(start, stride);
                    limits.push_back(limit);
                    dimensions.push_back((limit - start + stride - 1) / stride);
                }
                Plain result = plain(dimensions, [&](const Extents& index) {
                    Extents from;
                    for (std::size_t i = 0; i < rank; ++i)
                        from.push_back(taken[i].first + index[i] * taken[i].second);
                    return array.at(from);
                });
                append("slice", std::move(result));
                for (std::size_t i = 0; i < rank; ++i) {
                    auto& dimension = *entry.last().add_slice_dimensions();
                    dimension.set_start(taken[i].first);
                    dimension.set_limit(limits[i]);
                    dimension.set_stride(taken[i].second);
                }
                return;
            }
            case 4: {
                if (rank == 0) return;
                const auto axis =
                    static_cast<std::size_t>(draw.number(0, static_cast<std::int64_t>(rank) - 1));
                const std::int64_t extent = array.dimensions[axis];
                if (extent > 6) return;
                Extents dimensions = array.dimensions;
                dimensions[axis] *= 2;
                Plain result = plain(dimensions, [&](Extents index) {
                    index[axis] %= extent;
                    return array.at(index);
                });
                const std::int64_t twice = id;
                append("concatenate", std::move(result), {twice});
                return entry.last().add_dimensions(static_cast<std::int64_t>(axis));
            }
            case 5: {
                // New axes of several elements, and the array's in any order among them.
                if (rank > 3 || array.words.size() > 100) return;
                const auto wide = static_cast<std::size_t>(draw.number(static_cast<std::int64_t>(rank), 4));
                Extents axes = draw.order(wide);
                axes.resize(rank);
                Extents dimensions = draw.extents(static_cast<std::int64_t>(wide), 3);
                for (std::size_t i = 0; i < rank; ++i)
                    dimensions[static_cast<std::size_t>(axes[i])] = array.dimensions[i];
                Plain result = plain(dimensions, [&](const Extents& index) {
                    Extents from;
                    for (const std::int64_t axis : axes)
                        from.push_back(index[static_cast<std::size_t>(axis)]);
                    return array.at(from);
                });
                append("broadcast", std::move(result));
                return add_dimensions(entry, axes);
            }
            case 6: {
                Extents axes;
                for (std::size_t i = 0; i < rank; ++i) {
                    if (draw.is(2)) axes.push_back(static_cast<std::int64_t>(i));
                }
                Plain result = plain(array.dimensions, [&](Extents index) {
                    for (const std::int64_t axis : axes) {
                        const auto at = static_cast<std::size_t>(axis);
                        index[at] = array.dimensions[at] - 1 - index[at];
                    }
                    return array.at(index);
                });
                append("reverse", std::move(result));
                return add_dimensions(entry, axes);
            }
            default: {
                if (array.words.size() > 200) return;
                const std::vector<PadSide> sides = drawn_padding(draw, array.dimensions);
                // A float that has no room in a bfloat16, or any integer.
                const std::int64_t number =
                    type == "f32" ? 1'000'001 * draw.number(-3, 3) : draw.number(-3, 3) << draw.number(0, 28);
                const std::int64_t word = add_constant(entry, type + "[]", {number});
                append("pad", padded(array, sides, word_of(number)), {word});
                return set_padding(entry, sides);
            }
        }
    }
};

/// The array that movements begin with: an input as it is, or one whose words are those of another type.
enum class Start { Input, OfBfloat16, BitsOfFloats };

TEST_CASE("Chains of movements keep each element at its place", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(600);
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        HloModule module;
        const auto start = static_cast<Start>(draw.number(0, 2));
        const std::string type = start == Start::OfBfloat16 ? "f32" : draw.is(2) ? "s32" : "u32";
        const std::int64_t larger = module.combiner("maximum", type);
        HloComputation entry = module.computation("main");
        const Extents extents = draw.extents(draw.number(0, 3), 3);
        const Plain input = start == Start::Input ? draw.array(extents) : draw.floats(extents);
        const std::string given = start == Start::Input ? type : start == Start::OfBfloat16 ? "bf16" : "f32";
        Moved moved{entry, type, entry.parameter(shape_text(given, extents)), input};
        if (start == Start::OfBfloat16) moved.append("convert", input);
        if (start == Start::BitsOfFloats) moved.append("bitcast-convert", input);
        for (std::int64_t i = draw.number(0, 7); i-- > 0;) moved.move(draw);
        // With all elements, beside another array, and reduced.
        const std::int64_t last = moved.id;
        const std::string shape = shape_text(type, moved.array.dimensions);
        const std::int64_t other = entry.parameter(shape);
        const std::int64_t difference = entry.add("subtract", shape, {other, last});
        const std::int64_t least = add_constant(entry, type + "[]", {type == "u32" ? 0 : -100'000'000});
        const std::int64_t most = entry.add("reduce", type + "[]", {last, least}, {larger});
        for (std::size_t axis = 0; axis < moved.array.dimensions.size(); ++axis)
            entry.last().add_dimensions(static_cast<std::int64_t>(axis));
        entry.add("tuple", "(" + shape + ", " + shape + ", " + type + "[])", {last, difference, most});
        const Extents& moved_to = moved.array.dimensions;
        const Plain beside = type == "f32" ? draw.floats(moved_to) : draw.array(moved_to);
        const auto as_float = [](std::uint32_t word) { return std::bit_cast<float>(word); };
        Words differences;
        Words largest{moved.word_of(type == "u32" ? 0 : -100'000'000)};
        for (std::size_t i = 0; i < beside.words.size(); ++i) {
            const std::uint32_t a = beside.words[i];
            const std::uint32_t b = moved.array.words[i];
            differences.push_back(type == "f32" ? words_of({as_float(a) - as_float(b)}).front() : a - b);
            const bool is_larger = type == "f32" ? as_float(largest[0]) < as_float(b)
                                   : type == "s32"
                                       ? static_cast<std::int32_t>(largest[0]) < static_cast<std::int32_t>(b)
                                       : largest[0] < b;
            if (is_larger) largest[0] = b;
        }
        const std::vector<Words> outputs = run(module, {input.words, beside.words});
        REQUIRE(outputs.size() == 3);
        REQUIRE(outputs[0] == moved.array.words);
        REQUIRE(outputs[1] == differences);
        REQUIRE(outputs[2] == largest);
    }
}

TEST_CASE("What pad puts around elements may be computed, with any number of elements between",
          "[hlo][graph]") {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const Plain input = draw.array(draw.extents(draw.number(0, 3), 4));
        const std::vector<PadSide> sides = drawn_padding(draw, input.dimensions);
        const Plain expected = padded(input, sides, 77);
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t array = entry.parameter(shape_text("s32", input.dimensions));
        const std::int64_t word = entry.parameter("s32[]");
        entry.add("pad", shape_text("s32", expected.dimensions), {array, word});
        set_padding(entry, sides);
        REQUIRE(run(module, {input.words, {77}}) == std::vector<Words>{expected.words});
    }
}

TEST_CASE("Any float may be put around elements", "[hlo][graph][random]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> numbers{
        std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.0F, 0.0F, 1.5F};
    for (std::uint32_t seed = 0; seed < random_runs(60); ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const std::string type = draw.is(2) ? "f32" : "bf16";
        const std::uint32_t word = words_of({numbers[seed % numbers.size()]}).front();
        // Some arrays have one number, which may be that around them.
        Plain input = draw.floats(draw.extents(draw.number(0, 3), 3));
        const bool is_alike = draw.is(3);
        if (is_alike) std::ranges::fill(input.words, word);
        const std::vector<PadSide> sides = drawn_padding(draw, input.dimensions);
        const Plain expected = padded(input, sides, word);
        HloModule module;
        HloComputation entry = module.computation("main");
        const auto constant = [&](const Extents& dimensions, const Words& words) {
            const std::string shape = shape_text(type, dimensions);
            const std::int64_t id = entry.add("constant", shape);
            hlo_proto::LiteralProto& literal = *entry.last().mutable_literal();
            *literal.mutable_shape() = shape_proto(shape);
            for (const std::uint32_t each : words) {
                if (type == "f32") literal.add_f32s(std::bit_cast<float>(each));
                if (type == "bf16") {
                    *literal.mutable_bf16s() += static_cast<char>(each >> 16 & 0xFF);
                    *literal.mutable_bf16s() += static_cast<char>(each >> 24);
                }
            }
            return id;
        };
        const std::int64_t array = is_alike && draw.is(2)
                                       ? constant(input.dimensions, input.words)
                                       : entry.parameter(shape_text(type, input.dimensions));
        const bool is_constant = entry.last().opcode() == "constant";
        const std::string shape = shape_text(type, expected.dimensions);
        const std::int64_t made = entry.add("pad", shape, {array, constant({}, {word})});
        set_padding(entry, sides);
        const std::int64_t other = entry.parameter(shape);
        const std::int64_t is_other = entry.parameter(shape_text("pred", expected.dimensions));
        entry.add("select", shape, {is_other, other, made});
        std::vector<Words> inputs;
        if (!is_constant) inputs.push_back(input.words);
        inputs.push_back(expected.words);
        inputs.emplace_back(expected.words.size(), 0);
        REQUIRE(run(module, inputs) == std::vector<Words>{expected.words});
    }
}

TEST_CASE("What edges cut off may be more than is there at once", "[hlo][graph]") {
    // 2 elements with 2^28 between them, of which 4 stay.
    const auto module = [](std::int64_t interior, std::int64_t size) {
        HloModule made;
        HloComputation entry = made.computation("main");
        const std::int64_t array = entry.parameter("s32[" + std::to_string(size) + "]");
        const std::int64_t word = entry.parameter("s32[]");
        entry.add("pad", "s32[4]", {array, word});
        set_padding(entry, {{0, 4 - (size + (size - 1) * interior), interior}});
        return made;
    };
    CHECK(run(module(5, 2), {{1, 2}, {9}}) == std::vector<Words>{{1, 9, 9, 9}});
    CHECK_THAT(refusal(module(1 << 27, 3)),
               EndsWith("an array on its way is 1,3,134217729,1; programs are compiled with at most "
                        "268435456 elements"));
}

Plain sliced(const Plain& array, const Extents& start, const Extents& sizes) {
    Extents first;
    for (std::size_t i = 0; i < start.size(); ++i)
        first.push_back(std::clamp<std::int64_t>(start[i], 0, array.dimensions[i] - sizes[i]));
    return plain(sizes, [&](Extents index) {
        for (std::size_t i = 0; i < index.size(); ++i) index[i] += first[i];
        return array.at(index);
    });
}

TEST_CASE("Dynamic slices and their updates are moved inside of the array", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(150);
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const std::int64_t rank = draw.number(0, 3);
        const Plain array = draw.array(draw.extents(rank, 6));
        Extents sizes;
        Extents start;
        for (const std::int64_t extent : array.dimensions) {
            sizes.push_back(draw.number(1, extent));
            start.push_back(draw.place(-3, 8));
        }
        const Plain update = draw.array(sizes);
        const bool is_known = draw.is(4);
        const bool is_vector = rank > 0 && draw.is(3);
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter(shape_text("s32", array.dimensions));
        const std::int64_t changed = entry.parameter(shape_text("s32", sizes));
        std::vector<Words> inputs{array.words, update.words};
        Ids places;
        if (is_vector) {
            places.push_back(entry.parameter(shape_text("s32", {rank})));
            inputs.emplace_back();
            for (const std::int64_t each : start) inputs.back().push_back(static_cast<std::uint32_t>(each));
        } else {
            for (const std::int64_t each : start) {
                if (is_known) {
                    places.push_back(add_constant(entry, "s32[]", {each}));
                } else {
                    places.push_back(entry.parameter("s32[]"));
                    inputs.push_back({static_cast<std::uint32_t>(each)});
                }
            }
        }
        Ids of_slice{operand};
        of_slice.insert(of_slice.end(), places.begin(), places.end());
        Ids of_update{operand, changed};
        of_update.insert(of_update.end(), places.begin(), places.end());
        const std::int64_t slice = entry.add("dynamic-slice", shape_text("s32", sizes), of_slice);
        for (const std::int64_t size : sizes) entry.last().add_dynamic_slice_sizes(size);
        const std::int64_t whole =
            entry.add("dynamic-update-slice", shape_text("s32", array.dimensions), of_update);
        entry.add("tuple", "(" + shape_text("s32", sizes) + ", " + shape_text("s32", array.dimensions) + ")",
                  {slice, whole});
        Plain updated = array;
        for_each_index(sizes, [&](const Extents& index) {
            Extents to = index;
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] += std::clamp<std::int64_t>(start[i], 0, array.dimensions[i] - sizes[i]);
            updated.at(to) = update.at(index);
        });
        const std::vector<Words> outputs = run(module, inputs);
        REQUIRE(outputs.size() == 2);
        REQUIRE(outputs[0] == sliced(array, start, sizes).words);
        REQUIRE(outputs[1] == updated.words);
    }
}

bool has(const Extents& axes, std::size_t axis) {
    return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
}

/// A type of indices, with its smallest and its largest number.
struct IndexType {
    const char* name = "s32";
    std::int64_t low = 0;
    std::int64_t high = 0;
};
constexpr std::array<IndexType, 6> index_types{
    {{"s32", -(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1},
     {"u32", 0, (std::int64_t{1} << 32) - 1},
     {"s16", -32768, 32767},
     {"u16", 0, 65535},
     {"s8", -128, 127},
     {"u8", 0, 255}}};

/// What gather and scatter have in common: an operand, indices, and windows of the operand.
struct Indexing {
    Plain operand;
    Plain indices;
    IndexType index_type;
    std::int64_t vector_axis = 0;
    Extents mapped;         ///< axes of the operand, by the numbers of an index vector
    Extents operand_batch;  ///< as many as index_batch
    Extents index_batch;
    Extents skipped;  ///< axes of the operand that windows do not have
    Extents sizes;    ///< of windows, by axis of the operand
    Extents batch;    ///< extents of the indices without their vectors

    explicit Indexing(Draw& draw) {
        const std::int64_t rank = draw.number(1, 3);
        operand = draw.array(draw.extents(rank, 4));
        const Extents axes = draw.order(static_cast<std::size_t>(rank));
        std::size_t next = 0;
        const std::int64_t batches = draw.is(2) ? draw.number(0, std::min<std::int64_t>(rank - 1, 1)) : 0;
        while (next < static_cast<std::size_t>(batches)) operand_batch.push_back(axes[next++]);
        std::ranges::sort(operand_batch);
        const auto mapped_count = static_cast<std::size_t>(draw.number(1, rank - batches));
        for (std::size_t i = 0; i < mapped_count; ++i) mapped.push_back(axes[next++]);
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
            if (has(operand_batch, axis)) {
                sizes.push_back(1);
                continue;
            }
            sizes.push_back(draw.number(1, operand.dimensions[axis]));
            if (draw.is(2)) {
                sizes.back() = 1;
                skipped.push_back(static_cast<std::int64_t>(axis));
            }
        }
        // Axes of the indices: some of their own, those of the batch, and the vectors'.
        const auto own = static_cast<std::size_t>(draw.number(0, 2 - batches));
        batch = draw.extents(static_cast<std::int64_t>(own), 3);
        const bool has_vectors = mapped.size() != 1 || draw.is(2);
        for (const std::int64_t axis : operand_batch) {
            const auto at = draw.number(0, static_cast<std::int64_t>(batch.size()));
            batch.insert(batch.begin() + at, operand.dimensions[static_cast<std::size_t>(axis)]);
            index_batch.push_back(at);
        }
        Extents dimensions = batch;
        vector_axis = static_cast<std::int64_t>(batch.size());
        if (has_vectors) {
            vector_axis = draw.number(0, vector_axis);
            dimensions.insert(dimensions.begin() + vector_axis, static_cast<std::int64_t>(mapped.size()));
            for (std::int64_t& axis : index_batch) axis += axis >= vector_axis ? 1 : 0;
        }
        index_type = index_types.at(static_cast<std::size_t>(draw.number(0, index_types.size() - 1)));
        indices = plain(dimensions, [&](const Extents&) {
            // At times the type's ends.
            if (draw.is(8)) return static_cast<std::uint32_t>(draw.is(2) ? index_type.low : index_type.high);
            return static_cast<std::uint32_t>(std::max<std::int64_t>(draw.number(-2, 5), index_type.low));
        });
    }

    /// The place in the operand where the window of an index begins, not yet inside of it.
    Extents start(const Extents& batch_index) const {
        Extents place(operand.dimensions.size(), 0);
        for (std::size_t i = 0; i < mapped.size(); ++i) {
            Extents at = batch_index;
            if (vector_axis < static_cast<std::int64_t>(indices.dimensions.size()))
                at.insert(at.begin() + vector_axis, static_cast<std::int64_t>(i));
            const std::uint32_t word = indices.at(at);
            place[static_cast<std::size_t>(mapped[i])] =
                index_type.low < 0 ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word};
        }
        for (std::size_t i = 0; i < operand_batch.size(); ++i) {
            const std::int64_t axis = index_batch[i] - (index_batch[i] > vector_axis ? 1 : 0);
            place[static_cast<std::size_t>(operand_batch[i])] = batch_index[static_cast<std::size_t>(axis)];
        }
        return place;
    }
    /// Axes of the operand that windows have.
    Extents window_axes() const {
        Extents axes;
        for (std::size_t axis = 0; axis < operand.dimensions.size(); ++axis) {
            if (!has(skipped, axis) && !has(operand_batch, axis))
                axes.push_back(static_cast<std::int64_t>(axis));
        }
        return axes;
    }
    /// The extents of the windows, with axes of the batch at the places that are not `offsets`.
    Extents result_extents(const Extents& offsets) const {
        const Extents axes = window_axes();
        Extents dimensions;
        std::size_t next_window = 0;
        std::size_t next_batch = 0;
        for (std::size_t axis = 0; axis < batch.size() + axes.size(); ++axis) {
            dimensions.push_back(has(offsets, axis) ? sizes[static_cast<std::size_t>(axes[next_window++])]
                                                    : batch[next_batch++]);
        }
        return dimensions;
    }
    /// The index of the batch, and the place in the window by axis of the operand, of an index of the
    /// windows.
    std::pair<Extents, Extents> divided(const Extents& index, const Extents& offsets) const {
        const Extents axes = window_axes();
        Extents of_batch;
        Extents of_window(operand.dimensions.size(), 0);
        std::size_t next = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            if (has(offsets, axis)) {
                of_window[static_cast<std::size_t>(axes[next++])] = index[axis];
            } else {
                of_batch.push_back(index[axis]);
            }
        }
        return {of_batch, of_window};
    }
};

Extents drawn_offsets(Draw& draw, const Indexing& indexing) {
    const std::size_t count = indexing.window_axes().size();
    Extents offsets = draw.order(indexing.batch.size() + count);
    offsets.resize(count);
    std::ranges::sort(offsets);
    return offsets;
}

TEST_CASE("Gathers of all layouts take the windows that their indices name", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(300);
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const Indexing indexing(draw);
        const Extents offsets = drawn_offsets(draw, indexing);
        const Plain expected = plain(indexing.result_extents(offsets), [&](const Extents& index) {
            const auto [of_batch, of_window] = indexing.divided(index, offsets);
            Extents place = indexing.start(of_batch);
            for (std::size_t i = 0; i < place.size(); ++i)
                place[i] = std::clamp<std::int64_t>(place[i], 0,
                                                    indexing.operand.dimensions[i] - indexing.sizes[i]) +
                           of_window[i];
            return indexing.operand.at(place);
        });
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter(shape_text("s32", indexing.operand.dimensions));
        const std::int64_t indices =
            entry.parameter(shape_text(indexing.index_type.name, indexing.indices.dimensions));
        entry.add("gather", shape_text("s32", expected.dimensions), {operand, indices});
        auto& numbers = *entry.last().mutable_gather_dimension_numbers();
        for (const std::int64_t axis : offsets) numbers.add_offset_dims(axis);
        for (const std::int64_t axis : indexing.skipped) numbers.add_collapsed_slice_dims(axis);
        for (const std::int64_t axis : indexing.mapped) numbers.add_start_index_map(axis);
        for (const std::int64_t axis : indexing.operand_batch) numbers.add_operand_batching_dims(axis);
        for (const std::int64_t axis : indexing.index_batch) numbers.add_start_indices_batching_dims(axis);
        numbers.set_index_vector_dim(indexing.vector_axis);
        for (const std::int64_t size : indexing.sizes) entry.last().add_gather_slice_sizes(size);
        INFO("operand " << shape_text("s32", indexing.operand.dimensions) << ", indices "
                        << shape_text("s32", indexing.indices.dimensions) << ", result "
                        << shape_text("s32", expected.dimensions) << ", offsets " << shape_text("", offsets)
                        << ", mapped " << shape_text("", indexing.mapped) << ", vectors along "
                        << indexing.vector_axis << ", batch " << shape_text("", indexing.operand_batch)
                        << " and " << shape_text("", indexing.index_batch) << ", sizes "
                        << shape_text("", indexing.sizes));
        REQUIRE(run(module, {indexing.operand.words, indexing.indices.words}) ==
                std::vector<Words>{expected.words});
    }
}

TEST_CASE("Scatters of all layouts combine with what is there, in the order of their indices",
          "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(300);
    const std::vector<std::string> combiners{"", "add", "multiply", "minimum", "maximum", "xor"};
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const Indexing indexing(draw);
        const Extents offsets = drawn_offsets(draw, indexing);
        const Plain updates = draw.array(indexing.result_extents(offsets));
        const std::string& combiner = combiners[seed % combiners.size()];
        const auto combined = [&](std::uint32_t a, std::uint32_t b) {
            const auto left = static_cast<std::int32_t>(a);
            const auto right = static_cast<std::int32_t>(b);
            if (combiner == "add") return a + b;
            if (combiner == "multiply") return a * b;
            if (combiner == "minimum") return static_cast<std::uint32_t>(std::min(left, right));
            if (combiner == "maximum") return static_cast<std::uint32_t>(std::max(left, right));
            if (combiner == "xor") return a ^ b;
            return b;
        };
        Plain expected = indexing.operand;
        for_each_index(updates.dimensions, [&](const Extents& index) {
            const auto [of_batch, of_window] = indexing.divided(index, offsets);
            Extents place = indexing.start(of_batch);
            bool is_inside = true;
            for (std::size_t i = 0; i < place.size(); ++i) {
                // Windows that are not inside as a whole are left out.
                is_inside &= place[i] >= 0 && place[i] + indexing.sizes[i] <= indexing.operand.dimensions[i];
                place[i] += of_window[i];
            }
            if (is_inside) expected.at(place) = combined(expected.at(place), updates.at(index));
        });
        HloModule module;
        std::int64_t called = 0;
        if (combiner.empty()) {
            HloComputation made = module.computation("set");
            made.parameter("s32[]");
            made.parameter("s32[]");
            called = made.id();
        } else {
            called = module.combiner(combiner, "s32");
        }
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter(shape_text("s32", indexing.operand.dimensions));
        const std::int64_t indices =
            entry.parameter(shape_text(indexing.index_type.name, indexing.indices.dimensions));
        const std::int64_t update = entry.parameter(shape_text("s32", updates.dimensions));
        entry.add("scatter", shape_text("s32", expected.dimensions), {operand, indices, update}, {called});
        auto& numbers = *entry.last().mutable_scatter_dimension_numbers();
        for (const std::int64_t axis : offsets) numbers.add_update_window_dims(axis);
        for (const std::int64_t axis : indexing.skipped) numbers.add_inserted_window_dims(axis);
        for (const std::int64_t axis : indexing.mapped) numbers.add_scatter_dims_to_operand_dims(axis);
        for (const std::int64_t axis : indexing.operand_batch) numbers.add_input_batching_dims(axis);
        for (const std::int64_t axis : indexing.index_batch) numbers.add_scatter_indices_batching_dims(axis);
        numbers.set_index_vector_dim(indexing.vector_axis);
        REQUIRE(run(module, {indexing.operand.words, indexing.indices.words, updates.words}) ==
                std::vector<Words>{expected.words});
    }
}

TEST_CASE("What a sum of floats does not meet in a scatter keeps the sign of its zero", "[hlo][graph]") {
    HloModule module;
    const std::int64_t sum = module.combiner("add");
    HloComputation entry = module.computation("main");
    const std::int64_t operand = entry.parameter("f32[3]");
    const std::int64_t indices = entry.parameter("s32[2]");
    const std::int64_t updates = entry.parameter("f32[2]");
    entry.add("scatter", "f32[3]", {operand, indices, updates}, {sum});
    auto& numbers = *entry.last().mutable_scatter_dimension_numbers();
    numbers.add_inserted_window_dims(0);
    numbers.add_scatter_dims_to_operand_dims(0);
    numbers.set_index_vector_dim(1);
    CHECK(run(module, {words_of({-0.0F, 0.0F, -0.0F}), {2, 2}, words_of({1.5F, 2.0F})}) ==
          std::vector<Words>{words_of({-0.0F, 0.0F, 3.5F})});
}

/// Pairs are sorted by their keys alone.
TEST_CASE("Sorts keep the order of equal elements, along any axis", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(60);
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        Draw draw(seed);
        const std::int64_t rank = draw.number(1, 3);
        Extents dimensions = draw.extents(rank, 3);
        const auto axis = static_cast<std::size_t>(draw.number(0, rank - 1));
        dimensions[axis] = draw.number(1, 11);
        const Plain keys =
            plain(dimensions, [&](const Extents&) { return static_cast<std::uint32_t>(draw.number(-2, 2)); });
        const Plain others = draw.array(dimensions);
        HloModule module;
        HloComputation before = module.computation("before");
        const std::int64_t left = before.parameter("s32[]");
        const std::int64_t right = before.parameter("s32[]");
        before.parameter("s32[]");
        before.parameter("s32[]");
        before.add("compare", "pred[]", {left, right});
        before.last().set_comparison_direction("GT");
        HloComputation entry = module.computation("main");
        const std::string shape = shape_text("s32", dimensions);
        const std::int64_t first = entry.parameter(shape);
        const std::int64_t second = entry.parameter(shape);
        entry.add("sort", "(" + shape + ", " + shape + ")", {first, second}, {before.id()});
        entry.last().add_dimensions(static_cast<std::int64_t>(axis));
        Plain sorted_keys = keys;
        Plain sorted_others = others;
        Extents lines = dimensions;
        lines[axis] = 1;
        for_each_index(lines, [&](const Extents& line) {
            std::vector<std::pair<std::int32_t, std::uint32_t>> pairs;
            Extents index = line;
            for (index[axis] = 0; index[axis] < dimensions[axis]; ++index[axis])
                pairs.emplace_back(static_cast<std::int32_t>(keys.at(index)), others.at(index));
            std::ranges::stable_sort(pairs, std::greater<>(), &std::pair<std::int32_t, std::uint32_t>::first);
            for (index[axis] = 0; index[axis] < dimensions[axis]; ++index[axis]) {
                const auto& pair = pairs[static_cast<std::size_t>(index[axis])];
                sorted_keys.at(index) = static_cast<std::uint32_t>(pair.first);
                sorted_others.at(index) = pair.second;
            }
        });
        REQUIRE(run(module, {keys.words, others.words}) ==
                std::vector<Words>{sorted_keys.words, sorted_others.words});
    }
}

TEST_CASE("Places that are refused", "[hlo][graph]") {
    const auto gather = [](std::int64_t slice, std::int64_t collapsed) {
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter("s32[4,16384]");
        const std::int64_t indices = entry.parameter("s32[1]");
        entry.add("gather", "s32[" + std::to_string(slice) + "]", {operand, indices});
        auto& numbers = *entry.last().mutable_gather_dimension_numbers();
        numbers.add_offset_dims(0);
        numbers.add_collapsed_slice_dims(0);
        numbers.add_start_index_map(1);
        entry.last().add_gather_slice_sizes(collapsed);
        entry.last().add_gather_slice_sizes(slice);
        return refusal(module);
    };
    CHECK(gather(2, 1) == "");
    CHECK_THAT(gather(0, 1),
               EndsWith("an array has a dimension of size 0; programs are compiled without such "
                        "arrays"));
    CHECK_THAT(gather(2, 0), EndsWith("its slices have a dimension of size 0; programs are compiled without "
                                      "such slices"));
    CHECK_THAT(gather(4097, 1),
               EndsWith("its slices have 4097 places along a dimension; programs are compiled with at most "
                        "4096"));
    HloModule sort;
    HloComputation before = sort.computation("before");
    const std::int64_t left = before.parameter("s32[]");
    const std::int64_t right = before.parameter("s32[]");
    before.add("compare", "pred[]", {left, right});
    before.last().set_comparison_direction("LT");
    HloComputation entry = sort.computation("main");
    const std::int64_t array = entry.parameter("s32[65537]");
    entry.add("sort", "s32[65537]", {array}, {before.id()});
    entry.last().add_dimensions(0);
    CHECK_THAT(refusal(sort), EndsWith("it sorts 65537 elements; programs are compiled with at most 65536"));
}

}  // namespace
}  // namespace systole::tests
