.array 2 40
.input signed scale=1.7150376668147542 zero_point=-324200963
.input signed shape=87 scale=1.5069391429678123 zero_point=-1147241521 signed
.host_operation "" "\x00ÔOžãÿÿèE@"
.host_operation signed conv2d/kernel:0
.tile 2 32 useful=47
  .data 0048ff163851ff1c4ed099efdd007000ff0372c47271acff32a986155163ff00
  .data c9f2ff007dd81500ff73a40d0d2eff58ff7f070043ceb300a2fffa00521900af

vector lookup dst=16302654 src=16046132 rows=2210588575
interrupt
read_weights tile=0
interrupt
matmul ub=13618197 acc=46672 rows=1988371268 accumulate keep wide_a wide_w
set window.image_rows 0
sync.wait host_read sem=0
nop
sync.wait matrix sem=203
set vector.shift_a -1
nop
halt
sync.wait host_read sem=54
read_weights tile=0
nop
vector add dst=0 src=0 rows=4294967295 other=16777215
read_weights tile=0
sync.wait activation sem=148
read_host 0x36c782181a ub=5815730 block=1313749898 count=229
write_host 0x24ae4140b2 ub=6343467 block=1
tag 51300
matmul ub=12349697 acc=21676 rows=2536956510 repeat=2 signed wide_a wide_w
vector average_pool dst=606378 src=15955031 lines=1799937115 signed
vector multiply dst=3566594 src=113592 rows=2053867462
vector average_pool dst=8543076 src=3562257 lines=2866407603 signed count_padding
vector multiply dst=10175131 src=11352643 rows=1075020377 other=8800301 signed
convolve ub=16777215 acc=60734 lines=36620 line=51611 accumulate keep signed wide_a wide_w
convolve ub=0 acc=27317 lines=55567 line=44501 accumulate keep wide_a
sync.wait host_read sem=98
nop
nop
activate ub=16777215 acc=56381 rows=39025 first=2836005458 lookup
set window.input_height 0
nop
read_host 0x51728db645 ub=14893119 block=1 count=52930
vector lookup dst=10767713 src=836694 rows=2620691616
set activation.image_rows 0
read_weights tile=0
write_host 0x9bae680091 ub=0 block=880891049 count=26980
sync.wait host_read sem=132
vector multiply dst=16777215 src=7182090 rows=3772964555 other=16777215 signed
read_host 0xf9324677e0 ub=4034452 block=1 count=5589
activate ub=4986632 acc=22984 rows=65535 first=4216834816 identity load wide
read_host 0x72483895e1 ub=0 block=4294967295 count=46849
set output.zero_point -677622815
read_weights tile=0
vector add dst=690075 src=942278 rows=3372162605 other=3482459 signed
set window.stride_x 3874621362
nop
set activation.channel_offset 1727167538
matmul ub=13228604 acc=54416 rows=77554741 accumulate keep wide_w
read_host 0xc5f72cb18d ub=12498948 block=317862625 count=12173
interrupt
read_host 0xffffffffff ub=14556342 block=4294967295
read_weights tile=0
interrupt
read_host 0x55063c9cb5 ub=16777215 block=2412707134 count=26821
write_host 0x734e264f1 ub=6320750 block=3572433698 count=44668
nop
convolve ub=10137099 acc=65535 lines=58096 line=44469 keep wide_w
