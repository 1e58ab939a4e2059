#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {
namespace {

/// A .npy file with `header` as its dictionary.
Bytes npy(std::string_view header, const Bytes& values, int version = 1) {
    Bytes bytes{0x93};
    add(bytes, "NUMPY");
    bytes.push_back(static_cast<std::uint8_t>(version));
    bytes.push_back(0);
    add_little_endian(bytes, header.size(), version == 1 ? 2 : 4);
    add(bytes, header);
    bytes.insert(bytes.end(), values.begin(), values.end());
    return bytes;
}

std::string dictionary(std::string_view descr, std::string_view shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}   \n", descr, shape);
}

Bytes npy(std::string_view descr, std::string_view shape, const Bytes& values, int version = 1) {
    return npy(dictionary(descr, shape), values, version);
}

template <typename T, typename Bits>
Bytes little_endian(const std::vector<T>& values) {
    Bytes bytes;
    for (const T value : values) add_little_endian(bytes, std::bit_cast<Bits>(value), sizeof(T));
    return bytes;
}
Bytes f4(const std::vector<float>& values) {
    return little_endian<float, std::uint32_t>(values);
}
Bytes f8(const std::vector<double>& values) {
    return little_endian<double, std::uint64_t>(values);
}
Bytes i4(const std::vector<std::int32_t>& values) {
    return little_endian<std::int32_t, std::uint32_t>(values);
}
Bytes i8(const std::vector<std::int64_t>& values) {
    return little_endian<std::int64_t, std::uint64_t>(values);
}

struct Shape {
    std::string text;
    std::vector<std::uint32_t> count_height_width_channels;
};

TEST_CASE("NPY images: 8-bit pixels of two, three or four dimensions", "[input][npy]") {
    const auto shape = GENERATE(Shape{"(4, 6)", {1, 4, 6, 1}}, Shape{"(2, 3, 4)", {2, 3, 4, 1}},
                                Shape{"(2, 1, 4, 3)", {2, 1, 4, 3}}, Shape{"(2,3,4)", {2, 3, 4, 1}});
    const int version = GENERATE(1, 2);
    const Bytes file = npy("|u1", shape.text, counted(24), version);
    const Images images = parse_images(file, "a.npy");
    CHECK(std::vector{images.count, images.height, images.width, images.channels} ==
          shape.count_height_width_channels);
    REQUIRE(images.pixels() != nullptr);
    CHECK(*images.pixels() == counted(24));
    CHECK(*parse_images(gzip(file), "a.npy.gz").pixels() == counted(24));
}

TEST_CASE("NPY images: floats of both widths are read unchanged", "[input][npy]") {
    const std::vector<float> values{0.0F, -1.5F, 0.1F, std::numeric_limits<float>::max()};
    const Images narrow = parse_images(npy("<f4", "(2, 2)", f4(values)), "a.npy");
    REQUIRE(narrow.floats() != nullptr);
    CHECK(narrow.pixels() == nullptr);
    CHECK(*narrow.floats() == values);
    const Images wide = parse_images(npy("<f8", "(2, 2)", f8({values.begin(), values.end()})), "a.npy");
    REQUIRE(wide.floats() != nullptr);
    CHECK(*wide.floats() == values);
}

TEST_CASE("NPY images: values that are not finite 32-bit floats are rejected by index", "[input][npy]") {
    const float infinite = std::numeric_limits<float>::infinity();
    CHECK(error_of([&] {
              parse_images(npy("<f4", "(1, 2)", f4({0, infinite})), "a");
          }) == "a: value 1 is inf; it must be finite as a 32-bit float");
    CHECK(error_of([&] {
              parse_images(npy("<f4", "(1, 2)", f4({std::nanf(""), 0})), "a");
          }) == "a: value 0 is nan; it must be finite as a 32-bit float");
    CHECK(error_of([&] {
              parse_images(npy("<f8", "(1, 2)", f8({0, -1e39})), "a");
          }) == "a: value 1 is -1e+39; it must be finite as a 32-bit float");
    CHECK_NOTHROW(parse_images(npy("<f8", "(1, 2)", f8({0, -1e38})), "a"));
}

TEST_CASE("NPY labels of three integer types", "[input][npy]") {
    const std::vector<std::uint32_t> expected{7, 0, 9};
    CHECK(parse_labels(npy("|u1", "(3,)", {7, 0, 9}), "l.npy") == expected);
    CHECK(parse_labels(npy("<i4", "(3,)", i4({7, 0, 9})), "l.npy") == expected);
    CHECK(parse_labels(npy("<i8", "(3,)", i8({7, 0, 9})), "l.npy") == expected);
}

TEST_CASE("NPY labels of every integer type have its largest number", "[input][npy]") {
    const auto of_largest = []<typename T>(T largest, const char* type) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&largest);
        return parse_labels(npy(type, "(1,)", {bytes, bytes + sizeof(T)}), "l").front();
    };
    CHECK(of_largest(std::int8_t{127}, "|i1") == 127);
    CHECK(of_largest(std::uint8_t{255}, "|u1") == 255);
    CHECK(of_largest(std::int16_t{32767}, "<i2") == 32767);
    CHECK(of_largest(std::uint16_t{65535}, "<u2") == 65535);
    CHECK(of_largest(std::int32_t{2147483647}, "<i4") == 2147483647);
    CHECK(of_largest(std::uint32_t{4294967295}, "<u4") == 4294967295);
    CHECK(of_largest(std::uint64_t{4294967295}, "<u8") == 4294967295);
}

TEST_CASE("NPY truth values are the real numbers 0 and 1, not pixels", "[input][npy]") {
    const Images images = parse_images(npy("|b1", "(1, 3)", {0, 1, 255}), "a.npy");
    REQUIRE(images.pixels() == nullptr);
    REQUIRE(images.floats() != nullptr);
    CHECK(*images.floats() == std::vector<float>{0, 1, 1});
}

TEST_CASE("NPY labels outside 0 to 2^32 - 1 are refused", "[input][npy]") {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    CHECK(parse_labels(npy("<i8", "(1,)", i8({most})), "l") == std::vector<std::uint32_t>{0xFFFFFFFF});
    CHECK(error_of([] {
              parse_labels(npy("<i8", "(2,)", i8({1, most + 1})), "l");
          }) == "l: label 1 is 4294967296; it must be from 0 to 4294967295");
    CHECK(error_of([] { parse_labels(npy("<i4", "(1,)", i4({-1})), "l"); }) ==
          "l: label 0 is -1; it must be from 0 to 4294967295");
}

TEST_CASE("NPY types and shapes that are not supported are named in the error", "[input][npy]") {
    CHECK(error_of([] { parse_images(npy("<f16", "(1, 1)", counted(16)), "a"); }) ==
          "a: element type is '<f16'; arrays have '|u1' (pixels), '|b1', '<f4', '<f8', '<f2', '|i1', "
          "'<i2', '<u2', '<i4', '<u4', '<i8' or '<u8'");
    CHECK(error_of([] { parse_images(npy("<c8", "(1, 1)", counted(8)), "a"); }).find("'<c8'") !=
          std::string::npos);
    CHECK(error_of([] { parse_labels(npy("<f4", "(1,)", counted(4)), "l"); }) ==
          "l: element type is '<f4'; labels are integers: '|u1', '|i1', '<i2', '<u2', '<i4', '<u4', '<i8' or "
          "'<u8'");
    CHECK(error_of([] { parse_images(npy("|u1", "(4,)", counted(4)), "a"); }) ==
          "a: shape has 1 dimensions; images have 2 (H, W), 3 (N, H, W) or 4 (N, H, W, C)");
    CHECK(error_of([] { parse_images(npy("|u1", "()", {1}), "a"); }).find("has 0 dimensions") !=
          std::string::npos);
    CHECK(error_of([] { parse_labels(npy("|u1", "(2, 2)", counted(4)), "l"); }) ==
          "l: shape has 2 dimensions; labels have 1");
    CHECK(error_of([] { parse_images(npy("|u1", "(2, 0)", {}), "a"); }) ==
          "a: width is 0; it must be at least 1");
    CHECK(error_of([] { parse_labels(npy("|u1", "(0,)", {}), "l"); }) ==
          "l: label count is 0; it must be at least 1");
}

namespace {

Array array_of(const Bytes& bytes) {
    ByteStream stream(bytes, "a");
    return read_npy_array(stream);
}

/// A number's bytes, in one of both orders.
template <typename T>
void append(Bytes& bytes, T value, std::endian order) {
    Bytes own(sizeof(T));
    std::memcpy(own.data(), &value, sizeof(T));
    if (order != std::endian::native) std::ranges::reverse(own);
    bytes.insert(bytes.end(), own.begin(), own.end());
}

}  // namespace

TEMPLATE_TEST_CASE("NPY arrays are the same in both byte orders, row-major and column-major", "[input][npy]",
                   std::uint8_t, std::int8_t, std::int16_t, std::uint16_t, std::int32_t, float, double) {
    const std::string kind = std::is_floating_point_v<TestType> ? "f"
                             : std::is_signed_v<TestType>       ? "i"
                                                                : "u";
    for (const std::vector<std::uint32_t>& shape :
         {std::vector<std::uint32_t>{}, {5}, {3, 4}, {2, 3, 5}, {1, 4, 3, 2}, {2, 1, 3, 2, 2}, {2, 0, 3}}) {
        std::size_t size = 1;
        for (const std::uint32_t extent : shape) size *= extent;
        const auto number = [](std::size_t index) { return static_cast<TestType>(index * 31 + 2); };
        const auto file = [&](std::endian order, bool is_column_major) {
            // The elements in the file's order, each with the number of its row-major index.
            Bytes bytes;
            std::vector<std::size_t> index(shape.size());
            for (std::size_t i = 0; i < size; ++i) {
                std::size_t row_major = 0;
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    row_major = row_major * shape[axis] + index[axis];
                append(bytes, number(row_major), order);
                for (std::size_t step = 0; step < shape.size(); ++step) {
                    const std::size_t axis = is_column_major ? step : shape.size() - 1 - step;
                    if (++index[axis] < shape[axis]) break;
                    index[axis] = 0;
                }
            }
            const char mark = sizeof(TestType) == 1 ? '|' : order == std::endian::big ? '>' : '<';
            return npy(fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}{}), }}", mark,
                                   kind, sizeof(TestType), is_column_major ? "True" : "False",
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : ""),
                       bytes);
        };
        const Array expected = array_of(file(std::endian::little, false));
        CHECK(expected.shape == shape);
        for (const std::endian order : {std::endian::little, std::endian::big}) {
            for (const bool is_column_major : {false, true}) {
                CAPTURE(shape, order == std::endian::big, is_column_major);
                const Array array = array_of(file(order, is_column_major));
                CHECK(array.shape == shape);
                CHECK(array.values == expected.values);
            }
        }
    }
}

TEST_CASE("NPY half floats and labels may be big-endian", "[input][npy]") {
    CHECK(std::get<std::vector<float>>(array_of(npy(">f2", "(2,)", {0x3c, 0x00, 0xc0, 0x00})).values) ==
          std::vector<float>{1.0F, -2.0F});
    CHECK(parse_labels(npy(">i4", "(2,)", {0, 0, 1, 2, 0, 0, 0, 3}), "l") ==
          std::vector<std::uint32_t>{258, 3});
    CHECK(parse_labels(npy("{'descr': '>u2', 'fortran_order': True, 'shape': (1,)}", {1, 0}), "l") ==
          std::vector<std::uint32_t>{256});
}

TEST_CASE("The NPY dictionary may have any order, spacing and quotes", "[input][npy]") {
    const std::string header =
        GENERATE(as<std::string>(), "{'descr':'|u1','fortran_order':False,'shape':(1,2)}",
                 "{ \"shape\" : ( 1 , 2 , ) , \"descr\" : \"|u1\" , \"fortran_order\" : False }",
                 "{'shape': (1, 2), 'fortran_order': False, 'descr': '|u1', }\n");
    INFO(header);
    CHECK(*parse_images(npy(header, {8, 9}), "a.npy").pixels() == Bytes{8, 9});
}

TEST_CASE("An invalid NPY dictionary is rejected with the position", "[input][npy]") {
    const std::string header =
        GENERATE(as<std::string>(), "", "{", "}", "{}", "{'descr': '|u1', 'fortran_order': False}",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)} x",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)",
                 "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)}",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'more': 1}",
                 "{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1)}",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 1)}",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (1.5, 1)}",
                 "{'descr': '|u1', 'fortran_order': False, 'shape': [1, 1]}",
                 "{'descr': '|u1\n', 'fortran_order': False, 'shape': (1, 1)}",
                 "{'descr': [('r', '|u1')], 'fortran_order': False, 'shape': (1, 1)}");
    INFO(header);
    CHECK(error_of([&] {
              parse_images(npy(header, {1}), "a.npy");
          }).starts_with("a.npy: NPY header, character "));
}

TEST_CASE("An NPY header with wrong sizes allocates no memory, and the error names the rule",
          "[input][npy]") {
    CHECK(error_of([] {
              parse_images(npy("|u1", "(4294967295, 4294967295, 4294967295)", {}), "a");
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] { parse_images(npy("|u1", "(4294967296, 1)", {}), "a"); }) ==
          "a: a dimension of the shape is 4294967296; it must be at most 4294967295");
    // 2^32 bytes are allowed, so 2^30 floats are and 2^29 + 1 doubles are not.
    CHECK(error_of([] { parse_images(npy("<f4", "(1073741824, 1)", counted(3)), "a"); }) ==
          "a: the NPY data has 3 bytes; its header says 4294967296");
    CHECK(error_of([] {
              parse_images(npy("<f8", "(536870913, 1)", counted(3)), "a");
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] { parse_labels(npy("<i8", "(4294967295,)", counted(9)), "l"); }) ==
          "l: the NPY label data has 9 bytes; its header says 34359738360");

    Bytes long_header{0x93};
    add(long_header, std::string_view("NUMPY\2\0\xff\xff\xff\xff", 11));
    CHECK(error_of([&] { parse_images(long_header, "a"); }) ==
          "a: NPY header takes 4294967295 bytes; the limit is 65536");
}

TEST_CASE("Other versions of NPY are refused by number", "[input][npy]") {
    CHECK(error_of([] { parse_images(npy("|u1", "(1, 1)", {1}, 3), "a"); }) ==
          "a: NPY version is 3.0; 1.0 and 2.0 are read");
    CHECK(error_of([] { parse_images(npy("|u1", "(1, 1)", {1}, 0), "a"); }) ==
          "a: NPY version is 0.0; 1.0 and 2.0 are read");
}

TEST_CASE("An NPY file that is truncated or too long is rejected", "[input][npy]") {
    const int version = GENERATE(1, 2);
    Bytes file = npy("<f4", "(2, 2)", f4({1, 2, 3, 4}), version);
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK(error_of([&] { parse_images(std::span(file).first(size), "a.npy"); }).starts_with("a.npy: "));
    }
    CHECK_NOTHROW(parse_images(file, "a.npy"));
    file.push_back(0);
    CHECK(error_of([&] { parse_images(file, "a.npy"); }) ==
          "a.npy: bytes follow the last value; the file must end there");
}

}  // namespace
}  // namespace systole::input::tests
