#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/view/trace/chrome_events.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

/// A number that rises and falls over the run. A window shows the samples in it and the last one before,
/// which is the counter's value at the beginning of the window.
class CounterTrack {
public:
    CounterTrack(ChromeEvents& events, const Window& window, std::string_view name, std::string_view series)
        : events_(events), window_(window), name_(name), series_(series) {}

    /// Calls come in cycle order. A sample without a layer is shown with every choice of layers.
    void add(Cycle at, std::int64_t amount, std::optional<hw::Tag> tag = {});
    /// Ends the track: no call may follow.
    void finish();

private:
    struct Sample {
        Cycle at = 0;
        std::int64_t value = 0;
    };
    void write(const Sample& sample) { events_.counter(name_, series_, sample.at, sample.value); }

    ChromeEvents& events_;
    const Window& window_;
    const std::string_view name_;
    const std::string_view series_;
    std::int64_t value_ = 0;
    std::optional<Sample> before_;  ///< the last sample before the window
};

}  // namespace systole::trace
