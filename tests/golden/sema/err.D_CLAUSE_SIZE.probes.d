BEGIN
/* @repeat 16384 , probe# */
{
}
