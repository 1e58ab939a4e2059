#include "base/zeroed_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <new>

namespace systole {
namespace {

TEST_CASE("Zeroed memory begins all zero and keeps what is written", "[hw][base][zeroed_memory]") {
    ZeroedMemory<std::int32_t> memory(1000);
    REQUIRE(memory.all().size() == 1000);
    CHECK(memory.all().data() == memory.data());
    CHECK(std::all_of(memory.all().begin(), memory.all().end(), [](std::int32_t x) { return x == 0; }));
    memory.data()[999] = -7;
    CHECK(memory.all()[999] == -7);
    CHECK(ZeroedMemory<std::int32_t>(0).all().empty());
}

TEST_CASE("Zeroed memory that is not touched costs no pages, also after others were freed",
          "[hw][base][zeroed_memory]") {
    constexpr std::size_t bytes = std::size_t{24} << 20U;
    const auto pages = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
    };
    ZeroedMemory<std::uint8_t> first(bytes);
    const auto before = pages();
    for (std::size_t i = 0; i < 10; ++i) {
        ZeroedMemory<std::uint8_t> memory(bytes);
        memory.data()[i * bytes / 10] = 1;
        CHECK(memory.data()[(i + 1) * bytes / 10 - 1] == 0);
    }
    constexpr long most = 500;  // of 6,144 in one of them
    CHECK(pages() - before < most);
}

TEST_CASE("Memory that cannot be allocated is refused", "[hw][base][zeroed_memory]") {
#ifdef __SANITIZE_ADDRESS__
    WARN("SKIPPED: AddressSanitizer ends the process where memory cannot be had");
#else
    CHECK_THROWS_AS(ZeroedMemory<std::uint8_t>(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
#endif
}

}  // namespace
}  // namespace systole
