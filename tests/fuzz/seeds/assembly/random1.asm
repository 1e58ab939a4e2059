.array 8 14
.input "\x00\x00" shape=365 scale=1.9568302352429894 zero_point=129744345
.input "50%" scale=2.695189521695549 zero_point=-125184478 signed
.output "50%" shape=98 scale=2.734168011465925 zero_point=432046927 signed
.host_operation conv2d/kernel:0 ""
.layer "" conv2d/kernel:0
.buffer "4" input 0xe808 90
.buffer x3 output 0x1dd4c 49
.buffer "ùPaß\x00\x00\x00\x00\x0aO\x0f2" output 0x24967 1
.buffer "1" constant 0x30c9c 46 fill -1
.tile 1 14 useful=3
  .data ff000807532e5e0f265d5fc06804
.tile 1 1 bytes=2 fill -24276

tag 0
nop
sync.wait host_read sem=255
nop
vector lookup dst=13990 src=3437065 rows=4294967295
nop
nop
convolve ub=9648847 acc=5958 lines=30817 line=19859 keep wide_a wide_w
write_host 0x0 ub=10402018 block=1877122430 count=43135
nop
set vector.zero_point_b 275261836
vector average_pool dst=16777215 src=59506 lines=4294967295 line=4294967295 signed count_padding
interrupt
read_weights tile=0
interrupt
set output.maximum -1723249428
nop
nop
activate ub=7270550 acc=62572 rows=41864 first=1840659332 lookup load
matmul ub=0 acc=0 rows=1972950469 repeat=106 signed wide_a wide_w
write_host 0x539ae8c9af ub=0 block=1341804336 count=4191
set activation.outputs_per_image 0
convolve ub=0 acc=65535 lines=25057 line=32379 accumulate keep signed wide_a wide_w
sync.wait matrix sem=213
halt
vector average_pool dst=4338099 src=5333179 lines=3720368857 line=3417556180 signed
vector lookup dst=0 src=2585851 rows=1806297721 signed
nop
sync.signal weights sem=146
vector average_pool dst=12049182 src=0 lines=3089444841 line=1743278558 count_padding
