#include "hw/machine/dram_config.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using namespace systole::machine;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using nlohmann::json;
using systole::tests::machine_error;

namespace {

json shipped(const std::string& name) {
    return read_json_object(systole::tests::shipped_machine(name));
}

/// The error for TPU v1 with its DRAM and one changed key.
std::string error_with(const std::string& key, const json& value) {
    json machine = shipped("tpu_v1_dram.json");
    machine["weight_memory"]["dram"][key] = value;
    return machine_error(machine);
}

}  // namespace

TEST_CASE("TPU v1's DRAM carries 34.1 GB/s at its peak, 32 bytes a memory clock", "[machine][dram]") {
    const MachineConfig machine = read_machine(shipped("tpu_v1_dram.json"), "test.json");
    CHECK(machine.weight_memory.model == WeightMemoryModel::Dram);
    CHECK(machine.weight_memory.dram.memory_clock(machine.clock_hz()) == MemoryClock{32, 21});
    CHECK(machine.weight_rate() == Rate{1024, 21});
    CHECK(machine.weight_rate().bytes * machine.clock_hz() / machine.weight_rate().cycles == 34'133'333'333);
    // The defaults are the shipped machine's.
    json defaults = to_json(machine);
    defaults["weight_memory"]["dram"] = json::object();
    defaults.erase("sources");
    json written = to_json(machine);
    written.erase("sources");
    CHECK(json::parse(to_json(read_machine(defaults, "defaults")).dump()) == written);
}

TEST_CASE("The memory clock's ratio and the peak are exact at the bounds", "[machine][dram]") {
    DramConfig dram;
    dram.clock_ns = 0.1;
    CHECK(dram.memory_clock(1'000'000'000'000) == MemoryClock{1, 100});
    CHECK(dram.memory_clock(1'000) == MemoryClock{10'000'000, 1});
    dram.clock_ns = 10;
    CHECK(dram.memory_clock(1'000'000'000'000) == MemoryClock{1, 10'000});
    dram.channels = 64;
    dram.bus_bits = 1024;
    CHECK(dram.peak_rate(1'000'000'000'000) == Rate{1024, 625});  // 64 * 128 * 2 bytes in 10 ns
    dram.clock_ns = 1.07;
    CHECK(dram.memory_clock(999'999'999) == MemoryClock{100'000'000'000, 106'999'999'893});
}

TEST_CASE("Every DRAM key is read and written back", "[machine][dram]") {
    const json machine = shipped("tpu_v1_dram.json");
    const json& dram = machine.at("weight_memory").at("dram");
    const json all = to_json(read_machine(machine, "test.json"));
    CHECK(all.at("weight_memory").at("dram").size() == dram.size());
    for (const auto& [key, value] : dram.items()) {
        CAPTURE(key);
        json changed = machine;
        json other = value.get<int>() + 1;
        if (key == "clock_ns") other = 1.25;
        if (key == "bus_bits" || key == "burst_length") other = value.get<int>() / 2;
        if (key == "channels" || key == "banks" || key.ends_with("_bytes")) other = value.get<int>() * 2;
        changed["weight_memory"]["dram"][key] = other;
        const json written = to_json(read_machine(changed, "test.json"));
        CHECK(written.at("weight_memory").at("dram").at(key) == other);
    }
}

TEST_CASE("A key that the chosen model does not read is an error", "[machine][dram]") {
    json machine = shipped("tpu_v1_dram.json");
    machine["weight_memory"]["bandwidth_gb_per_s"] = 34;
    CHECK_THAT(machine_error(machine),
               Equals("test.json: weight_memory.bandwidth_gb_per_s is 34; it must be left out where "
                      "weight_memory.model is \"dram\": bandwidth follows from weight_memory.dram"));
    machine = shipped("tpu_v1.json");
    machine["weight_memory"]["dram"] = json::object();
    CHECK_THAT(machine_error(machine), Equals("test.json: weight_memory.dram is {}; it is read only where "
                                              "weight_memory.model is \"dram\""));
    machine["weight_memory"]["model"] = "bandwidth";
    CHECK_THAT(machine_error(machine), Contains("weight_memory.dram is {}"));
    machine["weight_memory"]["model"] = "sram";
    CHECK_THAT(machine_error(machine),
               Contains("weight_memory.model is \"sram\"; it must be one of \"bandwidth\", \"dram\""));
    // A source of a number that the model does not have.
    machine = shipped("tpu_v1_dram.json");
    machine["sources"]["weight_memory.bandwidth_gb_per_s"] = "somewhere";
    CHECK_THAT(machine_error(machine), Contains("the machine has no such key"));
}

TEST_CASE("The default model is the published bandwidth", "[machine][dram]") {
    json machine = shipped("tpu_v1.json");
    CHECK(to_json(read_machine(machine, "test.json")).at("weight_memory").at("model") == "bandwidth");
    CHECK_FALSE(to_json(read_machine(machine, "test.json")).at("weight_memory").contains("dram"));
    CHECK(MachineConfig{}.weight_memory.model == WeightMemoryModel::Bandwidth);
}

TEST_CASE("A DRAM that cannot be is an error that names key, value and rule", "[machine][dram]") {
    struct Case {
        const char* key;
        json value;
        const char* message;
    };
    const Case wrong = GENERATE(
        Case{"channels", 0,
             "weight_memory.dram.channels is 0; it must be a whole number from 1 to 64 channels"},
        Case{"channels", 65, "channels is 65"}, Case{"banks", 0, "banks is 0"},
        Case{"banks", 3,
             "weight_memory.bytes is 8589934592; the DRAM's channels and banks share it in steps of "
             "49152 bytes"},
        Case{"bus_bits", 12, "weight_memory.dram.bus_bits is 12; it must be whole bytes"},
        Case{"burst_length", 2, "burst_length is 2"}, Case{"burst_length", 7, "it must be even"},
        Case{"row_bytes", 8160, "weight_memory.dram.row_bytes is 8160; it must be whole bursts of 64 bytes"},
        Case{"channel_interleave_bytes", 32, "channel_interleave_bytes is 32; it must be whole bursts of 64"},
        Case{"channel_interleave_bytes", 192, "the DRAM's channels share it in steps of 384 bytes"},
        Case{"bank_interleave_bytes", 96, "bank_interleave_bytes is 96; it must be whole bursts of 64"},
        Case{"bank_interleave_bytes", 192,
             "bank_interleave_bytes is 192; it must divide row_bytes, 8192, or be a "
             "multiple of it"},
        Case{"bank_interleave_bytes", 12288, "must divide row_bytes, 8192"},
        Case{"clock_ns", 0.05, "clock_ns is 0.05"}, Case{"queue_bursts", 0, "queue_bursts is 0"},
        Case{"trcd_clocks", 0, "trcd_clocks is 0"}, Case{"trcd_clocks", 1.5, "trcd_clocks is 1.5"},
        Case{"tccd_clocks", 3, "weight_memory.dram.tccd_clocks is 3; a burst takes 4 clocks of the data bus"},
        Case{"trefi_clocks", 0, "trfc_clocks is 278; it must be 0 where trefi_clocks is"},
        // Closing 36 + 14, refresh 278, opening 14.
        Case{"trefi_clocks", 341,
             "trefi_clocks is 341; closing the rows, a refresh and the first read after it take "
             "342 clocks"},
        Case{"trfc", 278, "trfc is 278; it is not a known key; did you mean \"trfc_clocks\"?"});
    CHECK_THAT(error_with(wrong.key, wrong.value), Contains(wrong.message) && Contains("test.json: "));
}

TEST_CASE("DRAM configurations at the bounds are accepted", "[machine][dram]") {
    CHECK(error_with("trefi_clocks", 342) == "no error");
    CHECK(error_with("tccd_clocks", 4) == "no error");
    CHECK(error_with("bank_interleave_bytes", 64) == "no error");
    CHECK(error_with("bank_interleave_bytes", std::uint64_t{512} << 20U) == "no error");
    CHECK_THAT(error_with("bank_interleave_bytes", std::uint64_t{1} << 30U),
               Contains("weight_memory.bytes is"));
    // Each of the times that the least distance of refreshes is made of.
    for (const char* key : {"tras_clocks", "trtp_clocks", "trc_clocks", "trrd_clocks", "tfaw_clocks",
                            "trcd_clocks", "trp_clocks", "tccd_clocks", "trfc_clocks"}) {
        CAPTURE(key);
        CHECK_THAT(error_with(key, 8321), Contains("trefi_clocks is 8320; closing the rows"));
    }
    json machine = shipped("tpu_v1_dram.json");
    machine["weight_memory"]["dram"]["trefi_clocks"] = 0;
    machine["weight_memory"]["dram"]["trfc_clocks"] = 0;
    CHECK(machine_error(machine) == "no error");
}
