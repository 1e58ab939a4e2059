#include "sim/run/input/resize.h"

#include "sim/run/input/read.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/run/input/made_images.h"

namespace systole::input::tests {
namespace {

Images column_of(const Bytes& pixels) {
    return {.count = 1,
            .height = static_cast<std::uint32_t>(pixels.size()),
            .width = 1,
            .channels = 1,
            .values = pixels};
}

struct Resized {
    std::uint32_t height, width, channels;
    run::ImageSize size;
    Bytes first;
    std::uint32_t crc;
};

// The expected pixels are those of Pillow 11.3: Image.resize((width, height), Image.BILINEAR).
TEST_CASE("Images are resized to the bits that Pillow gives", "[input][resize]") {
    const auto example = GENERATE(
        Resized{5, 7, 1, {3, 4}, {46, 63, 90, 117, 118, 62, 124, 181, 89, 109, 101, 147}, 0x9467a8c9},
        Resized{4, 4, 3, {7, 9}, {8, 13, 19, 11, 17, 24, 20, 28, 37}, 0xb114112a},
        Resized{37, 53, 3, {16, 16}, {120, 114, 124, 136, 114, 139, 108}, 0x60c9f708},
        Resized{10, 10, 1, {10, 4}, {26, 43, 73, 109, 170, 196, 75}, 0x7a5792f7},
        Resized{3, 200, 1, {3, 7}, {106, 137, 137, 122, 108, 100, 132}, 0x47b3c9c6},
        Resized{64, 48, 3, {224, 224}, {136, 140, 147, 136, 140, 147, 137}, 0x3f2aaf07},
        Resized{300, 2, 1, {1, 1}, {130}, 0xd1b40d81});
    const Images images = made_image(example.height, example.width, example.channels);
    const Images result = resized(images, example.size, "a");
    CHECK(result.height == example.size.height);
    CHECK(result.width == example.size.width);
    const Bytes& pixels = *result.pixels();
    REQUIRE(pixels.size() == result.size());
    CHECK(Bytes(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(example.first.size())) ==
          example.first);
    CHECK(crc_of(result) == example.crc);
}

TEST_CASE("Each image of a batch is resized by itself", "[input][resize]") {
    Images both = made_image(5, 7, 1);
    Images second = made_image(5, 7, 1);
    for (std::uint8_t& pixel : std::get<Bytes>(second.values)) pixel = static_cast<std::uint8_t>(255 - pixel);
    const Bytes one = *resized(both, {3, 4}, "a").pixels();
    const Bytes two = *resized(second, {3, 4}, "a").pixels();
    append(both, second, "b");
    Bytes expected = one;
    expected.insert(expected.end(), two.begin(), two.end());
    const Images result = resized(both, {3, 4}, "a");
    CHECK(result.count == 2);
    CHECK(*result.pixels() == expected);
}

TEST_CASE("One number is the shorter side, and the other one is rounded down", "[input][resize]") {
    const auto size_of = [](std::uint32_t height, std::uint32_t width, std::uint32_t shorter) {
        const Images result = resized(made_image(height, width, 1), {.height = shorter, .width = 0}, "a");
        return std::vector{result.height, result.width};
    };
    CHECK(size_of(341, 512, 256) == std::vector<std::uint32_t>{256, 384});  // 384.4
    CHECK(size_of(512, 341, 256) == std::vector<std::uint32_t>{384, 256});
    CHECK(size_of(10, 10, 4) == std::vector<std::uint32_t>{4, 4});
    CHECK(size_of(2, 5, 3) == std::vector<std::uint32_t>{3, 7});  // 7.5
    CHECK(size_of(2, 5, 2) == std::vector<std::uint32_t>{2, 5});
}

TEST_CASE("An unchanged size changes no pixel", "[input][resize]") {
    const Images images = made_image(9, 8, 3);
    CHECK(*resized(images, {9, 8}, "a").pixels() == *images.pixels());
}

TEST_CASE("A crop keeps the middle, as torchvision's CenterCrop does", "[input][resize]") {
    const auto kept = [](std::size_t from, std::uint32_t to) {
        Bytes pixels(from);
        for (std::size_t i = 0; i < from; ++i) pixels[i] = static_cast<std::uint8_t>(i);
        return *cropped(column_of(pixels), {.height = to, .width = 1}, "a").pixels();
    };
    CHECK(kept(6, 4) == Bytes{1, 2, 3, 4});
    CHECK(kept(5, 4) == Bytes{0, 1, 2, 3});  // round(0.5) is 0
    CHECK(kept(7, 4) == Bytes{2, 3, 4, 5});  // round(1.5) is 2
    CHECK(kept(9, 4) == Bytes{2, 3, 4, 5});  // round(2.5) is 2
    CHECK(kept(4, 4) == Bytes{0, 1, 2, 3});
    const Images square = cropped(made_image(4, 6, 2), {.height = 2, .width = 0}, "a");
    CHECK(square.height == 2);
    CHECK(square.width == 2);
    const Bytes all = *made_image(4, 6, 2).pixels();
    CHECK(*square.pixels() == Bytes{all[16], all[17], all[18], all[19], all[28], all[29], all[30], all[31]});
}

TEST_CASE("A size that cannot be is refused", "[input][resize]") {
    CHECK(error_of([] {
              cropped(made_image(4, 6, 1), {5, 5}, "a.png");
          }) == "a.png: the images are 4x6; crop 5x5 is larger");
    CHECK(error_of([] {
              resized(made_image(1, 3000, 3), {.height = 65536, .width = 0}, "a.png");
          }).find("that is the limit") != std::string::npos);
    Images floats = made_image(2, 2, 1);
    floats.values = std::vector<float>(4);
    CHECK(error_of([&] {
              resized(floats, {1, 1}, "a.npy");
          }) == "a.npy: values are float32; resize is for 8-bit pixels");
    CHECK(error_of([&] {
              cropped(floats, {1, 1}, "a.npy");
          }) == "a.npy: values are float32; crop is for 8-bit pixels");
}

TEST_CASE("Channels are reversed in place", "[input][resize]") {
    Images images{.count = 2, .height = 1, .width = 1, .channels = 3, .values = Bytes{1, 2, 3, 4, 5, 6}};
    reverse_channels(images, "a");
    CHECK(*images.pixels() == Bytes{3, 2, 1, 6, 5, 4});
    images.channels = 1;
    images.count = 6;
    CHECK(error_of([&] { reverse_channels(images, "a"); }) == "a: the images have 1 channel; bgr needs 3");
}

// Expected: Resize(256), CenterCrop(224) of torchvision's transforms on the Pillow image.
TEST_CASE("A photograph is resized and cropped as torchvision does", "[input][resize][data]") {
    const std::filesystem::path cat =
        std::filesystem::path(systole::tests::source_dir()) / "../shared/data/coral/cat.bmp";
    if (!std::filesystem::exists(cat)) {
        WARN("SKIPPED: the photographs are not there");
        return;
    }
    const Images whole = parse_images(file_bytes(cat), "cat.bmp");
    CHECK(std::vector{whole.height, whole.width, whole.channels} == std::vector<std::uint32_t>{341, 512, 3});
    CHECK(crc_of(whole) == 0xebe6905a);
    const Images image = parse_images(file_bytes(cat), "cat.bmp",
                                      {.resize = run::ImageSize{256, 0}, .crop = run::ImageSize{224, 0}});
    CHECK(std::vector{image.height, image.width} == std::vector<std::uint32_t>{224, 224});
    CHECK(crc_of(image) == 0x3a897228);
    const Images grace = parse_images(file_bytes(cat.parent_path() / "grace_hopper.bmp"), "g",
                                      {.resize = run::ImageSize{224, 224}});
    CHECK(crc_of(grace) == 0x0941078c);
}

}  // namespace
}  // namespace systole::input::tests
