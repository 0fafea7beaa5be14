/* A provider as the files say that are given to dtrace -G and -h. */
#pragma D attributes Evolving/Evolving/Common provider http provider
provider http {
  probe request__start(int, char *) : (struct request *, string url);
  probe request__done(struct request *r);
  probe idle();
  probe busy(void) : ();
};
provider empty { };
