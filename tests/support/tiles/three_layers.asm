# A convolution with padding, pooling and a dense layer over 4 x 4 tiles.
.tiles 4 4
.model three_layers batch=1 inferences=1
.layer conv convolution macs=9216
.layer pool max_pool
.layer scores dense macs=640
.input image shape=8x8x4
.output scores shape=10
.buffer image input 0 256
.buffer kernels constant 4096 640                # a row of biases, 9 rows of 4 weights for each of 16 lanes
  .int32 16*100; .int8 64*1 64*-1 64*2 64*0 64*1 64*3 64*-2 64*1 64*1
.buffer matrix constant 8192 17408               # the same with 16 rows of weights, for the first tile:
  .int32 16*5; .int8 960*0                       # every 16th unit is in its memory
  .repeat 16
  .int8 4*1 4*-1 4*2 4*3 4*-2 4*1 4*4 4*0 4*2 4*1 24*0; .int8 960*0
  .end
.buffer out output 32768 10
set vector.multiplier 0x40000000; set vector.shift -4
# The image: each tile has 2 x 2 pixels, and a margin of one pixel around them.
set result.lines 8; set result.columns 8; set result.channels 4
set result.top 1; set result.bottom 1; set result.left 1; set result.right 1
read_parameters kernels unit=0 units=10
read_tensor image at=0
sync.signal host_read sem=0; sync.wait mesh sem=0
sync.signal host_read sem=1; sync.wait ring sem=1
read_parameters matrix unit=32 units=272
sync.signal host_read sem=5
tag 1
set source.lines 8; set source.columns 8; set source.channels 4
set source.top 1; set source.bottom 1; set source.left 1; set source.right 1
exchange at=0
sync.signal mesh sem=2; sync.wait tiles sem=2
set result.channels 4
set result.top 0; set result.bottom 0; set result.left 0; set result.right 0
set window.kernel_height 3; set window.kernel_width 3; set window.pad_top 1; set window.pad_left 1
multicast unit=0 rows=10 units=1
tile_multiply convolve fixed_point dst=64 src=0 unit=0 signed_weights
tag 2
set source.channels 4
set source.top 0; set source.bottom 0; set source.left 0; set source.right 0
set result.lines 4; set result.columns 4
set window.kernel_height 2; set window.kernel_width 2; set window.pad_top 0; set window.pad_left 0
set window.stride_y 2; set window.stride_x 2
tile_vector max_pool fixed_point dst=128 src=64
sync.signal tiles sem=3; sync.wait ring sem=3
tag 3
set source.lines 4; set source.columns 4
collect dst=256 src=128
sync.signal ring sem=4; sync.wait tiles sem=4
sync.wait tiles sem=5
set source.channels 64; set result.channels 10
tile_multiply dense fixed_point dst=512 src=256 unit=2 signed_weights
sync.signal tiles sem=6; sync.wait host_write sem=6
tag 0
set source.channels 10
write_tensor out at=512 over_lanes
halt
