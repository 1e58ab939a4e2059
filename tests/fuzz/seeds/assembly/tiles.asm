.tiles 2 2 lanes=32 units=16
.constant kernel 3
.buffer image input 0 64
.buffer block constant 0x1000 512 fill 1
.buffer result output 0x2000 64
read_program 1000
set result.lines 8; set result.columns 8; set result.channels 1; set result.top 1
read_tensor image at=0
read_parameters block+256 unit=3 units=4
sync.signal host_read sem=0; sync.wait mesh sem=0; sync.wait ring sem=1
set source.lines 8; set source.columns 8; set source.channels 1; set source.zero_point -3
exchange at=0
multicast unit=3 rows=4 units=1 groups=2 repeats=3
stream_parameters block rows=4 units=2
multicast block rows=4 units=2 streamed
set window.kernel_height kernel; set window.dilation_x 2
tile_multiply convolve fixed_point dst=64 src=0 unit=3 signed by_channel
tile_multiply depthwise float dst=64 src=0 block streamed signed_weights
tile_multiply dense real dst=64 src=0 unit=0 by_channel
collect dst=200 src=64 over_lanes
tile_vector subtract to_even dst=300 src=64 other=100 signed
tile_vector average_pool float dst=300 src=64
sync.signal tiles sem=3; sync.wait host_write sem=3
write_tensor result at=64
halt
